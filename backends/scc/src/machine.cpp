// SPDX-License-Identifier: Apache-2.0
// The operations of the memory policy in virtual time.
#include "machine.hpp"

#include <bit>
#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include <creek/core/error.hpp>

#include "checker.hpp"

namespace creek::scc_backend {

namespace {

virtual_time half(virtual_time whole) noexcept {
  return {whole.femtoseconds / 2};
}

/// Returns `part` / `of` of the time `whole`, rounded up.
virtual_time share(virtual_time whole, std::size_t part, std::size_t of) noexcept {
  const auto numerator = whole.femtoseconds * static_cast<std::int64_t>(part);
  const auto divisor = static_cast<std::int64_t>(of);
  return {(numerator + divisor - 1) / divisor};
}

std::size_t checked_stack(std::size_t bytes) {
  if (bytes >= machine::least_stack && bytes <= machine::most_stack) return bytes;
  throw usage_error("simulated chip: a core's stack must have 16 KiB to 4 GiB, not " +
                    std::to_string(bytes) + " bytes");
}

std::int64_t words_in(std::size_t size) noexcept {
  return static_cast<std::int64_t>((size + 3) / 4);
}

}  // namespace

machine::machine(const chip& description, std::size_t stack_bytes, virtual_time stuck_after)
    : chip_((description.validate(), description)),
      engine_(chip_.cores(), checked_stack(stack_bytes)),
      mpb_end_(static_cast<std::size_t>(chip_.cores()) * chip_.mpb_bytes),
      off_chip_(chip_),
      memory_(mpb_end_ + off_chip_.bytes()),
      local_(static_cast<std::size_t>(chip_.cores())),
      ports_(static_cast<std::size_t>(chip_.columns * chip_.rows)),
      counters_(2 * static_cast<std::size_t>(chip_.cores())),
      meter_(chip_),
      dvfs_(chip_),
      traffic_(static_cast<std::size_t>(chip_.cores())),
      watchers_((mpb_end_ + off_chip_.bytes()) / line_size),
      tables_(static_cast<std::size_t>(chip_.cores())),
      stuck_after_(stuck_after > virtual_time{}
                       ? stuck_after
                       : virtual_time{std::numeric_limits<std::int64_t>::max()}) {
  charged_.on = this;
  metered_.on = this;
  for (core_state& core : local_) core.clock = chip_.clocks.core;
}

void machine::run(const std::function<void(core_id)>& body) {
  // Simulations may nest: a task of one may run another to its end.
  struct installed {
    charge_sink* outer;
    simulated_meter* outer_meter;
    installed(charge_sink& inner, simulated_meter& meter) noexcept
        : outer{std::exchange(detail::charged_to, &inner)},
          outer_meter{std::exchange(detail::metered_by, &meter)} {}
    ~installed() {
      detail::charged_to = outer;
      detail::metered_by = outer_meter;
    }
  } const here{charged_, metered_};
  engine_.run([&](core_id core) {
    resumes();
    body(core);
    if (checker_) checker_->ended();
    becomes_idle(activity::finished);
  });
}

machine::~machine() = default;

// Must not throw: the program is told at its next wait or load, and run() reports the failure.
void machine::core_clock::charge(cycles length) noexcept {
  // Computation that is measured need not be stated.
  if (on->stretches_ && on->here().computes) return;
  try {
    on->charge(length);
    on->notice_time();
  } catch (...) {
    on->engine_.fail(std::current_exception());
  }
}

void machine::measure_computing(double cycles_a_host_second) {
  if (cycles_a_host_second == 0) return;
  if (!(cycles_a_host_second > 0 && cycles_a_host_second <= stretch_clock::most)) {
    throw usage_error("simulated chip: cycles_a_host_second must be positive, and at most 1e15");
  }
  stretches_.emplace(cycles_a_host_second);
}

void machine::begin_stretch() noexcept {
  here().computes = true;
  stretches_->start();
}

bool machine::end_stretch() {
  if (!here().computes) return false;
  const cycles computed = stretches_->stop();
  here().computes = false;
  if (computed.count > 0) charge(computed);
  return true;
}

void machine::check_accesses() {
  checker_ = std::make_unique<checker>(chip_, mpb_end_ + off_chip_.bytes(), engine_);
}

std::vector<fault> machine::faults(
    const std::function<void(const std::vector<fault>&)>& tell) const {
  if (!checker_) return {};
  std::vector<fault> found = checker_->faults();
  if (!found.empty() && tell) tell(found);
  return found;
}

void machine::require_running(core_id self) const {
  if (engine_.running() != self) {
    throw usage_error("simulated chip: core " + std::to_string(self.value) + " was used on core " +
                      std::to_string(engine_.running().value));
  }
}

void machine::require_core(core_id id) const {
  if (id.value >= 0 && id.value < chip_.cores()) [[likely]]
    return;
  throw usage_error("simulated chip: there is no core " + std::to_string(id.value) + " among " +
                    std::to_string(chip_.cores()));
}

void machine::require_counter(counter_id id) const {
  if (id.value >= 0 && id.value < counters()) [[likely]]
    return;
  throw usage_error("simulated chip: there is no counter " + std::to_string(id.value) + " among " +
                    std::to_string(counters()));
}

std::size_t machine::offset_of(const void* address, std::size_t size) const {
  const auto offset = static_cast<const std::byte*>(address) - memory_.get();
  const auto end = static_cast<std::ptrdiff_t>(mpb_end_ + off_chip_.bytes());
  if (address == nullptr || offset < 0 || offset >= end ||
      size > static_cast<std::size_t>(end - offset)) {
    throw usage_error("simulated chip: the address is not message-passing or shared memory");
  }
  return static_cast<std::size_t>(offset);
}

// --- The mesh -----------------------------------------------------------------------------------

template <class Begin>
machine::passage machine::request(virtual_time there_and_back, Begin begin) {
  core_state& self = here();
  passage way;
  way.start = std::max(engine_.now(), self.acknowledged);
  if (way.start > latest) [[unlikely]]
    end_of_time();
  way.arrival = way.start + half(there_and_back);
  engine_.order_at(way.arrival);
  way.served = begin(way.arrival);
  way.answered = way.served + (there_and_back - half(there_and_back));
  self.acknowledged = way.answered;
  return way;
}

virtual_time machine::mesh_time(mesh_place to) const noexcept {
  const int hops = chip::hops(chip_.place(engine_.running()), to);
  return hops * (chip_.costs.hop_round_trip * chip_.clocks.mesh);
}

machine::passage machine::request_tile(core_id to, cycles overhead, std::int64_t requests) {
  server& port = ports_[static_cast<std::size_t>(to.value / chip_.cores_per_tile)];
  const cycles core_cycles = overhead + chip_.costs.mpb_access;
  const virtual_time each = core_cycles * here_clock() + mesh_time(chip_.place(to));
  return request(requests * each, [&](virtual_time arrival) {
    return port.begin(arrival, requests * chip_.costs.mpb_service * clock(to));
  });
}

machine::passage machine::request_dram(const off_chip::block& to, cycles overhead,
                                       std::int64_t requests) {
  const cycles core_cycles = overhead + chip_.costs.dram_access;
  const virtual_time each =
      core_cycles * here_clock() +
      mesh_time(chip_.controllers_at[static_cast<std::size_t>(to.controller)]) +
      chip_.costs.dram_latency * chip_.clocks.memory;
  return request(requests * each, [&](virtual_time arrival) {
    return off_chip_.serve(to, arrival, requests,
                           chip_.costs.controller_service * chip_.clocks.memory,
                           chip_.costs.rank_service * chip_.clocks.memory);
  });
}

machine::passage machine::request_at(std::size_t at, cycles in_mpb, cycles in_dram) {
  if (at < mpb_end_) [[likely]]
    return request_tile(owner(at), in_mpb);
  return request_dram(off_chip_.block_at(at - mpb_end_), in_dram);
}

machine::passage machine::request_unqueued(mesh_place to, cycles core_cycles) {
  return request(core_cycles * here_clock() + mesh_time(to),
                 [](virtual_time arrival) { return arrival; });
}

machine::passage machine::request_counter() {
  return request(chip_.costs.counter * here_clock() + mesh_time(chip_.counters_at),
                 [&](virtual_time arrival) {
                   return counter_port_.begin(arrival, chip_.costs.counter_service * here_clock());
                 });
}

// --- Words --------------------------------------------------------------------------------------

std::uint32_t machine::load_word(std::size_t at, std::size_t size) {
  // A loop over loads waits as well, perhaps for a failed core. Unwinding code may look at flags.
  if (engine_.aborted() && std::uncaught_exceptions() == 0) [[unlikely]]
    engine_.throw_if_aborted();
  throw_if_stuck();
  const passage way = request_at(at, chip_.costs.uc_read, chip_.costs.dram_word);
  count_read(at, size);
  std::uint32_t value = 0;
  std::memcpy(&value, bytes_at(at), size);
  if (checker_) {
    const std::size_t line = at / line_size * line_size;
    checker_->loaded(at, size, here().combining, bytes_at(line), way.served);
  }
  engine_.set_clock(way.answered);
  core_state& self = here();
  const virtual_time compare = chip_.costs.poll * here_clock();
  self.look_offset = way.arrival - way.start;
  self.look_period = (way.answered - way.served) + self.look_offset + compare;
  self.next_look = way.answered + compare;
  return value;
}

void machine::store_word(std::size_t at, std::uint32_t value, std::size_t size) {
  engine_.advance(chip_.costs.uc_write_issue * here_clock());
  const passage way = request_at(at, chip_.costs.uc_write, chip_.costs.dram_word);
  count_write(at, size);
  std::memcpy(bytes_at(at), &value, size);
  if (checker_) checker_->stored(at, size, way.served);
  engine_.set_clock(way.start);
  stored(at, way.served);
}

// --- Blocks -------------------------------------------------------------------------------------

void machine::read_lines(void* to, std::size_t from, std::size_t size, bool of_words) {
  auto* out = static_cast<std::byte*>(to);
  while (size > 0) {
    const auto line = static_cast<std::uint32_t>(from / line_size);
    const std::size_t offset = from % line_size;
    const std::size_t part = std::min(size, line_size - offset);
    l1_cache& l1 = here().l1;
    const line_data* copy = l1.find(line);
    std::int64_t words = words_in(part);
    const bool fresh = copy == nullptr;
    virtual_time seen = engine_.now();
    if (fresh) {
      const passage way = request_at(from, chip_.costs.line_read, chip_.costs.dram_line_read);
      count_read(from, line_size);
      engine_.set_clock(way.answered);
      line_data& filled = l1.allocate(line);
      std::memcpy(filled.data(), bytes_at(line * line_size), line_size);
      copy = &filled;
      seen = way.served;
      --words;  // the first word comes with the line
    }
    engine_.advance(words * chip_.costs.l1_word * here_clock());
    std::memcpy(out, copy->data() + offset, part);
    if (checker_ && of_words) {
      checker_->loaded(from, part, here().combining, bytes_at(line * line_size), seen);
    } else if (checker_) {
      checker_->read(line, mask_of(offset, part), *copy, fresh, here().combining,
                     bytes_at(line * line_size), seen);
    }
    out += part;
    from += part;
    size -= part;
  }
  note_progress();
}

void machine::write(std::size_t to, const void* from, std::size_t size) {
  const auto* in = static_cast<const std::byte*>(from);
  while (size > 0) {
    const auto line = static_cast<std::uint32_t>(to / line_size);
    const std::size_t offset = to % line_size;
    const std::size_t part = std::min(size, line_size - offset);
    core_state& self = here();
    if (self.combining.line != line) {
      send_combined();
      self.combining.line = line;
    }
    engine_.advance(share(chip_.costs.line_write_issue * here_clock(), part, line_size));
    self.combining.put(offset, in, part);
    if (checker_) checker_->wrote(line, mask_of(offset, part), engine_.now());
    if (line_data* copy = self.l1.find(line)) std::memcpy(copy->data() + offset, in, part);
    if (self.combining.full()) send_combined();
    in += part;
    to += part;
    size -= part;
  }
}

/// Writes the words of a line, which leave one by one; their requests are simulated as one.
void machine::write_around(std::size_t to, const void* from, std::size_t size) {
  const auto* in = static_cast<const std::byte*>(from);
  while (size > 0) {
    const auto line = static_cast<std::uint32_t>(to / line_size);
    const std::size_t offset = to % line_size;
    const std::size_t part = std::min(size, line_size - offset);
    const std::int64_t words = words_in(part);
    const passage way = to < mpb_end_ ? request_tile(owner(to), chip_.costs.uc_write, words)
                                      : request_dram(off_chip_.block_at(to - mpb_end_),
                                                     chip_.costs.dram_word_around, words);
    count_write(to, part);
    if (checker_) checker_->wrote_around(line, mask_of(offset, part), way.served);
    std::memcpy(bytes_at(to), in, part);
    if (line_data* copy = here().l1.find(line)) std::memcpy(copy->data() + offset, in, part);
    engine_.set_clock(way.start);
    stored(to, way.served);
    in += part;
    to += part;
    size -= part;
  }
}

void machine::copy_out(void* to, std::size_t from, std::size_t size) {
  engine_.order_at(engine_.now());
  std::memcpy(to, bytes_at(from), size);
}

void machine::send_combined() {
  core_state& self = here();
  if (self.combining.line == write_combine_buffer::none) return;
  const std::size_t at = self.combining.line * line_size;
  const passage way = request_at(at, chip_.costs.line_write, chip_.costs.dram_line_write);
  count_write(at, static_cast<std::size_t>(std::popcount(self.combining.written)));
  if (checker_) checker_->sent(self.combining.line, way.served);
  self.combining.drain_to(bytes_at(at));
  engine_.set_clock(way.start);
  stored(at, way.served);
}

void machine::invalidate() {
  engine_.advance(chip_.costs.invalidate * here_clock());
  here().l1.invalidate();
}

/// Does the dummy write to another line; that line itself belongs to no core and is never sent.
void machine::flush() {
  engine_.advance(share(chip_.costs.line_write_issue * here_clock(), 4, line_size));
  send_combined();
}

// --- Registers ----------------------------------------------------------------------------------

bool machine::test_and_set(core_id id) {
  require_core(id);
  engine_.throw_if_aborted();
  throw_if_stuck();
  const passage way = request_tile(id, chip_.costs.uc_read);
  engine_.set_clock(way.answered);
  const bool won = !std::exchange(local_[id.index()].test_and_set, true);
  if (won) {
    note_progress();
  } else {
    engine_.polls("test-and-set register", id.index());
  }
  if (checker_) checker_->tried_register(id, won);
  return won;
}

void machine::clear(core_id id) {
  require_core(id);
  engine_.advance(chip_.costs.uc_write_issue * here_clock());
  const passage way = request_tile(id, chip_.costs.uc_write);
  local_[id.index()].test_and_set = false;
  if (checker_) checker_->cleared_register(id);
  engine_.set_clock(way.start);
}

word machine::fetch_increment(counter_id id) {
  require_counter(id);
  const passage way = request_counter();
  engine_.set_clock(way.answered);
  note_progress();
  if (checker_) checker_->incremented(id);
  return counters_[static_cast<std::size_t>(id.value)]++;
}

void machine::set_counter(counter_id id, word value) {
  require_counter(id);
  const passage way = request_counter();
  engine_.set_clock(way.start);
  note_progress();
  if (checker_) checker_->set(id);
  counters_[static_cast<std::size_t>(id.value)] = value;
}

gap_allocator& machine::shared_blocks() {
  auto& blocks = here().shared_blocks;
  if (!blocks) blocks = std::make_unique<gap_allocator>(chip_.shared_bytes);
  return *blocks;
}

}  // namespace creek::scc_backend
