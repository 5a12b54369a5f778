// SPDX-License-Identifier: Apache-2.0
#include "load_store_unit.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>

#include "checker/checker.hpp"

namespace creek::scc_backend {

namespace {

/// Returns `part` / `of` of the time `whole`, rounded up.
virtual_time share(virtual_time whole, std::size_t part, std::size_t of) noexcept {
  const auto numerator = whole.femtoseconds * static_cast<std::int64_t>(part);
  const auto divisor = static_cast<std::int64_t>(of);
  return {(numerator + divisor - 1) / divisor};
}

std::int64_t words_in(std::size_t size) noexcept {
  return static_cast<std::int64_t>((size + 3) / 4);
}

}  // namespace

std::uint32_t load_store_unit::load_word(std::size_t at, std::size_t size) {
  // A loop over loads waits as well, perhaps for a failed core. Unwinding code may look at flags.
  if (simulation_.failure().aborted() && std::uncaught_exceptions() == 0) [[unlikely]]
    simulation_.failure().throw_if_aborted();
  limits_.throw_if_stuck();
  const passage way = mesh_.to_memory(at, chip_.costs.uc_read, chip_.costs.dram_word);
  traffic_.read(at, size);
  std::uint32_t value = 0;
  std::memcpy(&value, bytes_.at(at), size);
  if (check_) {
    const std::size_t line = at / line_size * line_size;
    check_->loaded(at, size, here().combining, bytes_.at(line), way.served);
  }
  simulation_.set_clock(way.answered);
  const virtual_time compare = chip_.costs.poll * clocks_.here();
  const virtual_time offset = way.arrival - way.start;
  watchers_.polls({way.answered + compare, (way.answered - way.served) + offset + compare, offset});
  return value;
}

void load_store_unit::store_word(std::size_t at, std::uint32_t value, std::size_t size) {
  simulation_.advance(chip_.costs.uc_write_issue * clocks_.here());
  const passage way = mesh_.to_memory(at, chip_.costs.uc_write, chip_.costs.dram_word);
  traffic_.written(at, size);
  std::memcpy(bytes_.at(at), &value, size);
  if (check_) check_->stored(at, size, way.served);
  simulation_.set_clock(way.start);
  watchers_.stored(at, way.served);
}

void load_store_unit::read_lines(void* to, std::size_t from, std::size_t size, bool of_words) {
  auto* out = static_cast<std::byte*>(to);
  while (size > 0) {
    const auto line = static_cast<std::uint32_t>(from / line_size);
    const std::size_t offset = from % line_size;
    const std::size_t part = std::min(size, line_size - offset);
    l1_cache& l1 = here().l1;
    const line_data* copy = l1.find(line);
    std::int64_t words = words_in(part);
    const bool fresh = copy == nullptr;
    virtual_time seen = simulation_.now();
    if (fresh) {
      const passage way = mesh_.to_memory(from, chip_.costs.line_read, chip_.costs.dram_line_read);
      traffic_.read(from, line_size);
      simulation_.set_clock(way.answered);
      line_data& filled = l1.allocate(line);
      std::memcpy(filled.data(), bytes_.at(line * line_size), line_size);
      copy = &filled;
      seen = way.served;
      --words;  // the first word comes with the line
    }
    simulation_.advance(words * chip_.costs.l1_word * clocks_.here());
    std::memcpy(out, copy->data() + offset, part);
    if (check_ && of_words) {
      check_->loaded(from, part, here().combining, bytes_.at(line * line_size), seen);
    } else if (check_) {
      check_->read(line, mask_of(offset, part), *copy, fresh, here().combining,
                   bytes_.at(line * line_size), seen);
    }
    out += part;
    from += part;
    size -= part;
  }
  limits_.note_progress();
}

void load_store_unit::write(std::size_t to, const void* from, std::size_t size) {
  const auto* in = static_cast<const std::byte*>(from);
  while (size > 0) {
    const auto line = static_cast<std::uint32_t>(to / line_size);
    const std::size_t offset = to % line_size;
    const std::size_t part = std::min(size, line_size - offset);
    core_buffers& self = here();
    if (self.combining.line != line) {
      send_combined();
      self.combining.line = line;
    }
    simulation_.advance(share(chip_.costs.line_write_issue * clocks_.here(), part, line_size));
    self.combining.put(offset, in, part);
    if (check_) check_->wrote(line, mask_of(offset, part), simulation_.now());
    if (line_data* copy = self.l1.find(line)) std::memcpy(copy->data() + offset, in, part);
    if (self.combining.full()) send_combined();
    in += part;
    to += part;
    size -= part;
  }
}

void load_store_unit::write_around(std::size_t to, const void* from, std::size_t size) {
  const auto* in = static_cast<const std::byte*>(from);
  while (size > 0) {
    const auto line = static_cast<std::uint32_t>(to / line_size);
    const std::size_t offset = to % line_size;
    const std::size_t part = std::min(size, line_size - offset);
    const std::int64_t words = words_in(part);
    const passage way =
        mesh_.to_memory(to, chip_.costs.uc_write, chip_.costs.dram_word_around, words);
    traffic_.written(to, part);
    if (check_) check_->wrote_around(line, mask_of(offset, part), way.served);
    std::memcpy(bytes_.at(to), in, part);
    if (line_data* copy = here().l1.find(line)) std::memcpy(copy->data() + offset, in, part);
    simulation_.set_clock(way.start);
    watchers_.stored(to, way.served);
    in += part;
    to += part;
    size -= part;
  }
}

void load_store_unit::copy_out(void* to, std::size_t from, std::size_t size) {
  simulation_.order_at(simulation_.now());
  std::memcpy(to, bytes_.at(from), size);
}

void load_store_unit::send_combined() {
  core_buffers& self = here();
  if (self.combining.line == write_combine_buffer::none) return;
  const std::size_t at = self.combining.line * line_size;
  const passage way = mesh_.to_memory(at, chip_.costs.line_write, chip_.costs.dram_line_write);
  traffic_.written(at, static_cast<std::size_t>(std::popcount(self.combining.written)));
  if (check_) check_->sent(self.combining.line, way.served);
  self.combining.drain_to(bytes_.at(at));
  simulation_.set_clock(way.start);
  watchers_.stored(at, way.served);
}

void load_store_unit::invalidate() {
  simulation_.advance(chip_.costs.invalidate * clocks_.here());
  here().l1.invalidate();
}

/// Does the dummy write to another line; that line itself belongs to no core and is never sent.
void load_store_unit::flush() {
  simulation_.advance(share(chip_.costs.line_write_issue * clocks_.here(), 4, line_size));
  send_combined();
}

}  // namespace creek::scc_backend
