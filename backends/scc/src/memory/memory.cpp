// SPDX-License-Identifier: Apache-2.0
// The view of one core: checks that it is used on that core, and passes the calls to the machine.
#include <creek/scc/memory.hpp>

#include <cassert>
#include <string>
#include <utility>

#include <creek/core/error.hpp>

#include "checker/checker.hpp"
#include "chip/machine.hpp"

namespace creek::scc_backend {

namespace {

/// Tells the checker, if there is one, who called the function that this is inlined into.
[[gnu::always_inline]] inline void note_caller(machine& on) {
  if (checker* check = on.memory().check(); check != nullptr) [[unlikely]] {
    check->points().called_from(__builtin_return_address(0), __builtin_frame_address(0));
  }
}

/// Throws usage_error unless `self` is the core that runs.
void require_running(machine& on, core_id self) {
  if (on.simulation().running() != self) {
    throw usage_error("simulated chip: core " + std::to_string(self.value) + " was used on core " +
                      std::to_string(on.simulation().running().value));
  }
}

}  // namespace

core_id memory::running() const noexcept {
  return on_->simulation().running();
}
int memory::cores() const noexcept {
  return on_->description().cores();
}
std::size_t memory::mpm_bytes() const noexcept {
  return on_->description().mpb_bytes;
}
mpm_ptr<std::byte> memory::at(core_id core, std::size_t offset) const noexcept {
  assert(core.value >= 0 && core.value < cores());
  return mpm_ptr{on_->memory().bytes().mpb(core) + offset};
}
int memory::counters() const noexcept {
  return on_->memory().registers().counters();
}

allocation_observer* memory::allocations() const noexcept {
  return on_->memory().check() == nullptr ? nullptr
                                          : on_->memory().check()->blocks().observer(self_);
}

core_operation memory::enter() const {
  require_running(*on_, self_);
  return {*on_, core_operation::interruptible{}};
}

std::uint32_t memory::load_word(const void* address, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  return on_->memory().lines().load_word(on_->memory().bytes().offset_of(address), size);
}
void memory::store_word(void* address, std::uint32_t value, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  on_->memory().lines().store_word(on_->memory().bytes().offset_of(address), value, size);
}
void memory::read(void* to, mpm_ptr<const std::byte> from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0)
    on_->memory().lines().read(to, on_->memory().bytes().offset_of(from.address(), size), size);
}
void memory::load_words(void* to, mpm_ptr<const std::byte> from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  on_->memory().lines().invalidate();
  if (size > 0)
    on_->memory().lines().load_row(to, on_->memory().bytes().offset_of(from.address(), size), size);
}
void memory::write(mpm_ptr<std::byte> to, const void* from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0)
    on_->memory().lines().write(on_->memory().bytes().offset_of(to.address(), size), from, size);
}
void memory::cached_read(void* to, mpm_ptr<const std::byte> from, std::size_t size,
                         std::size_t working_set) const {
  if (working_set > on_->description().l2_bytes) return read(to, from, size);
  const core_operation begun = enter();
  begun->memory().bulk().private_read(size, working_set);
  on_->memory().lines().copy_out(to, on_->memory().bytes().offset_of(from.address(), size), size);
}
void memory::write_around(mpm_ptr<std::byte> to, const void* from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0)
    on_->memory().lines().write_around(on_->memory().bytes().offset_of(to.address(), size), from,
                                       size);
}
void memory::invalidate() const {
  enter()->memory().lines().invalidate();
}
void memory::flush() const {
  enter()->memory().lines().flush();
}
bool memory::test_and_set(core_id id) const {
  return enter()->memory().registers().test_and_set(id);
}
void memory::clear(core_id id) const {
  enter()->memory().registers().clear(id);
}
word memory::fetch_increment(counter_id id) const {
  return enter()->memory().registers().fetch_increment(id);
}
void memory::set_counter(counter_id id, word value) const {
  enter()->memory().registers().set_counter(id, value);
}
void memory::pause(cycles length) const {
  const core_operation begun = enter();
  begun->simulation().failure().throw_if_aborted();
  begun->computing().pause(length);
}
void memory::stop_computing() const {
  require_running(*on_, self_);
  on_->computing().stop();
}
void memory::start_computing() const {
  require_running(*on_, self_);
  on_->computing().start();
}
void memory::charge(cycles length) const {
  const core_operation begun = enter();
  begun->computing().charge(begun.ends_stretch() ? cycles{}
                                                 : length);  // measured time need not be stated
}
virtual_time memory::now() const {
  require_running(*on_, self_);
  const core_operation begun(*on_);
  return on_->simulation().now();
}
int memory::power_domain() const noexcept {
  return on_->power().island(self_);
}
clock_period memory::clock() const {
  require_running(*on_, self_);
  return on_->clocks().of(self_);
}
units::volts memory::voltage() const {
  const core_operation begun = enter();
  engine& order = begun->simulation();
  order.order_at(order.now());  // others of the island may have asked for another voltage
  const int level = on_->power().state().level_at(power_domain(), now());
  return on_->description().power.levels[static_cast<std::size_t>(level)].voltage;
}
bool memory::is_safe(int divider) const {
  const core_operation begun = enter();
  engine& order = begun->simulation();
  on_->power().state().require_divider(divider);
  order.order_at(order.now());
  return on_->power().state().is_safe(power_domain(), divider, now());
}
void memory::set_frequency_divider(int divider) const {
  enter()->power().set_frequency_divider(divider);
}
void memory::set_island_divider(int divider) const {
  enter()->power().set_island_divider(divider);
}
clock_period memory::clock_of_tile(int tile) const {
  return enter()->power().read_clock(tile);
}
power_request memory::request_power(int divider) const {
  return enter()->power().request(divider);
}
void memory::wait_power(const power_request& request) const {
  enter()->power().wait(request);
}
energy_account memory::switch_energy_account(energy_account to) const {
  require_running(*on_, self_);
  const core_operation begun(*on_);
  return on_->log().switch_account(to);
}
void memory::begin_span(trace::name what, std::int64_t argument) const {
  require_running(*on_, self_);
  const core_operation begun(*on_);
  on_->log().begin_span(what, argument);
}
void memory::end_span() const {
  require_running(*on_, self_);
  const core_operation begun(*on_);
  on_->log().end_span();
}
// No interrupt comes in between a look and parking because of it: await_store() sees it.
void memory::await_store(const void* address) const {
  const core_operation begun(*on_);
  begun->waits().await_store(on_->memory().bytes().offset_of(address));
}
void memory::begin_wait() const {
  const core_operation begun(*on_);
  begun->waits().begin();
}
void memory::end_wait() const noexcept {
  const core_operation begun(*on_);
  begun->waits().end();
}
void memory::wake_halted(const void* address) const {
  const core_operation begun(*on_);
  begun->waits().signals().wake_halted(on_->memory().bytes().offset_of(address));
}
std::uint64_t memory::stores_seen() const {
  return enter()->memory().watchers().stores_to(self_);
}
void memory::await_own_store(std::uint64_t seen_before, virtual_time began) const {
  const core_operation begun(*on_);
  begun->waits().await_own_store(seen_before, began);
}

// --- Off-chip memory, interrupts ----------------------------------------------------------------

std::size_t memory::shared_bytes() const noexcept {
  return on_->description().shared_bytes;
}
mpm_ptr<std::byte> memory::shared(std::size_t offset) const {
  if (offset >= shared_bytes()) {
    throw usage_error("simulated chip: " + std::to_string(offset) + " is outside the " +
                      std::to_string(shared_bytes()) + " bytes of shared memory");
  }
  return mpm_ptr{on_->memory().bytes().off_chip_bytes() + offset};
}
mpm_ptr<std::byte> memory::shared_malloc(std::size_t bytes) const {
  const auto offset = enter()->memory().heap(self_, shared_bytes()).allocate(bytes);
  if (!offset) return {};
  if (allocation_observer* observer = allocations()) {
    observer->allocated(mpm_bytes() + *offset, bytes, "shared memory");
  }
  return mpm_ptr{on_->memory().bytes().off_chip_bytes() + *offset};
}
void memory::shared_free(mpm_ptr<std::byte> block) const {
  const std::byte* first = enter()->memory().bytes().off_chip_bytes();
  if (block.address() < first || !on_->memory()
                                      .heap(self_, shared_bytes())
                                      .free(static_cast<std::size_t>(block.address() - first))) {
    throw usage_error("simulated chip: shared_free: shared_malloc did not return this address");
  }
  if (allocation_observer* observer = allocations()) {
    observer->released(mpm_bytes() + static_cast<std::size_t>(block.address() - first), 0);
  }
}
void memory::private_read(std::size_t bytes, std::size_t working_set) const {
  enter()->memory().bulk().private_read(bytes, working_set);
}
void memory::private_write(std::size_t bytes, std::size_t working_set, write_mode mode) const {
  enter()->memory().bulk().private_write(bytes, working_set, mode);
}
void memory::operand_read(std::size_t bytes, std::size_t working_set) const {
  if (bytes > 0 && working_set > on_->description().l1_bytes) private_read(bytes, working_set);
}
void memory::operand_rewritten(std::size_t bytes, std::size_t working_set) const {
  if (working_set > on_->description().l2_bytes) {
    private_write_lines(bytes);
  } else if (working_set > on_->description().l1_bytes) {
    private_write(bytes, working_set);
  }
}
void memory::flush_l2(bool by_aliases) const {
  const chip_costs& costs = on_->description().costs;
  enter()->computing().charge(by_aliases ? costs.l2_flush_by_aliases : costs.l2_flush);
}
void memory::require_memory(mpm_ptr<const std::byte> first, std::size_t size) const {
  if (size > 0) (void)on_->memory().bytes().offset_of(first.address(), size);
}
memory::place_in_block memory::location(mpm_ptr<const std::byte> of) const {
  const std::size_t at = on_->memory().bytes().offset_of(of.address());
  const auto first = static_cast<std::size_t>(on_->memory().bytes().off_chip_bytes() -
                                              on_->memory().bytes().mpb(core_id{0}));
  if (at < first) throw usage_error("simulated chip: message-passing memory belongs to no block");
  return {on_->memory().bytes().dram().entry_for(at - first), (at - first) % lut_block_bytes};
}
lut_entry memory::lut(core_id of, int entry) const {
  return enter()->memory().tables().entry(of, entry);
}
void memory::set_lut(core_id of, int entry, const lut_entry& value) const {
  enter()->memory().tables().set_entry(of, entry, value);
}
mpm_ptr<std::byte> memory::mapped(std::uint32_t address) const {
  return mpm_ptr{enter()->memory().tables().mapped(address)};
}
lut_entry memory::private_block(core_id core, int block) const {
  const std::size_t offset = static_cast<std::size_t>(block) * lut_block_bytes;
  if (core.value < 0 || core.value >= cores() || block < 0 ||
      offset >= on_->description().private_bytes) {
    throw usage_error("simulated chip: core " + std::to_string(core.value) +
                      " has no private block " + std::to_string(block));
  }
  const off_chip& layout = on_->memory().bytes().dram();
  return layout.entry_for(layout.private_offset(core) + offset);
}
void memory::raise_interrupt(core_id to, int pin) const {
  enter()->interrupts().raise(to, pin);
}
void memory::on_interrupt(std::function<void(int pin)> handler) const {
  enter()->interrupts().set_handler(std::move(handler));
}
// Does not use enter(): an interrupt that is up is the one that halt() ends with.
void memory::halt() const {
  require_running(*on_, self_);
  const core_operation begun(*on_);
  begun->interrupts().halt();
}

}  // namespace creek::scc_backend
