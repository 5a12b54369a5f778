// SPDX-License-Identifier: Apache-2.0
// The view of one core: checks that it is used on that core, and passes the calls to the machine.
#include <creek/scc/memory.hpp>

#include <cassert>
#include <string>
#include <utility>

#include <creek/core/error.hpp>

#include "checker.hpp"
#include "machine.hpp"

namespace creek::scc_backend {

namespace {

/// Tells the checker, if there is one, who called the function that this is inlined into.
[[gnu::always_inline]] inline void note_caller(const machine& on) {
  if (checker* check = on.check(); check != nullptr) [[unlikely]] {
    check->called_from(__builtin_return_address(0), __builtin_frame_address(0));
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
  return mpm_ptr{on_->mpb(core) + offset};
}
int memory::counters() const noexcept {
  return on_->counters();
}

allocation_observer* memory::allocations() const noexcept {
  return on_->check() == nullptr ? nullptr : on_->check()->allocations(self_);
}

core_operation memory::enter() const {
  on_->require_running(self_);
  return {*on_, core_operation::interruptible{}};
}

std::uint32_t memory::load_word(const void* address, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  return on_->load_word(on_->offset_of(address), size);
}
void memory::store_word(void* address, std::uint32_t value, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  on_->store_word(on_->offset_of(address), value, size);
}
void memory::read(void* to, mpm_ptr<const std::byte> from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0) on_->read(to, on_->offset_of(from.address(), size), size);
}
void memory::load_words(void* to, mpm_ptr<const std::byte> from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  on_->invalidate();
  if (size > 0) on_->load_row(to, on_->offset_of(from.address(), size), size);
}
void memory::write(mpm_ptr<std::byte> to, const void* from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0) on_->write(on_->offset_of(to.address(), size), from, size);
}
void memory::cached_read(void* to, mpm_ptr<const std::byte> from, std::size_t size,
                         std::size_t working_set) const {
  if (working_set > on_->description().l2_bytes) return read(to, from, size);
  const core_operation begun = enter();
  begun->private_read(size, working_set);
  on_->copy_out(to, on_->offset_of(from.address(), size), size);
}
void memory::write_around(mpm_ptr<std::byte> to, const void* from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0) on_->write_around(on_->offset_of(to.address(), size), from, size);
}
void memory::invalidate() const {
  enter()->invalidate();
}
void memory::flush() const {
  enter()->flush();
}
bool memory::test_and_set(core_id id) const {
  return enter()->test_and_set(id);
}
void memory::clear(core_id id) const {
  enter()->clear(id);
}
word memory::fetch_increment(counter_id id) const {
  return enter()->fetch_increment(id);
}
void memory::set_counter(counter_id id, word value) const {
  enter()->set_counter(id, value);
}
void memory::pause(cycles length) const {
  const core_operation begun = enter();
  begun->simulation().throw_if_aborted();
  begun->pause(length);
}
void memory::stop_computing() const {
  on_->require_running(self_);
  on_->stop_computing();
}
void memory::start_computing() const {
  on_->require_running(self_);
  on_->start_computing();
}
void memory::charge(cycles length) const {
  const core_operation begun = enter();
  begun->charge(begun.ends_stretch() ? cycles{} : length);  // measured time need not be stated
}
virtual_time memory::now() const {
  on_->require_running(self_);
  const core_operation begun(*on_);
  return on_->simulation().now();
}
int memory::power_domain() const noexcept {
  return on_->island(self_);
}
clock_period memory::clock() const {
  on_->require_running(self_);
  return on_->clock(self_);
}
units::volts memory::voltage() const {
  const core_operation begun = enter();
  engine& order = begun->simulation();
  order.order_at(order.now());  // others of the island may have asked for another voltage
  const int level = on_->power_state().level_at(power_domain(), now());
  return on_->description().power.levels[static_cast<std::size_t>(level)].voltage;
}
bool memory::is_safe(int divider) const {
  const core_operation begun = enter();
  engine& order = begun->simulation();
  on_->power_state().require_divider(divider);
  order.order_at(order.now());
  return on_->power_state().is_safe(power_domain(), divider, now());
}
void memory::set_frequency_divider(int divider) const {
  enter()->set_frequency_divider(divider);
}
void memory::set_island_divider(int divider) const {
  enter()->set_island_divider(divider);
}
clock_period memory::clock_of_tile(int tile) const {
  return enter()->read_clock(tile);
}
power_request memory::request_power(int divider) const {
  return enter()->request_power(divider);
}
void memory::wait_power(const power_request& request) const {
  enter()->wait_power(request);
}
energy_account memory::switch_energy_account(energy_account to) const {
  on_->require_running(self_);
  const core_operation begun(*on_);
  return on_->switch_account(to);
}
void memory::begin_span(trace::name what, std::int64_t argument) const {
  on_->require_running(self_);
  const core_operation begun(*on_);
  on_->begin_span(what, argument);
}
void memory::end_span() const {
  on_->require_running(self_);
  const core_operation begun(*on_);
  on_->end_span();
}
// No interrupt comes in between a look and parking because of it: await_store() sees it.
void memory::await_store(const void* address) const {
  const core_operation begun(*on_);
  begun->await_store(on_->offset_of(address));
}
void memory::begin_wait() const {
  const core_operation begun(*on_);
  begun->begin_wait();
}
void memory::end_wait() const noexcept {
  const core_operation begun(*on_);
  begun->end_wait();
}
void memory::wake_halted(const void* address) const {
  const core_operation begun(*on_);
  begun->wake_halted(on_->offset_of(address));
}
std::uint64_t memory::stores_seen() const {
  return enter()->stores_to(self_);
}
void memory::await_own_store(std::uint64_t seen_before, virtual_time began) const {
  const core_operation begun(*on_);
  begun->await_own_store(seen_before, began);
}

// --- Off-chip memory, interrupts ----------------------------------------------------------------

std::size_t memory::shared_bytes() const noexcept {
  return on_->description().shared_bytes;
}
mpm_ptr<std::byte> memory::shared(std::size_t offset) const {
  if (offset >= shared_bytes()) {
    throw usage_error("simulated chip: " + std::to_string(offset) + " lies outside the " +
                      std::to_string(shared_bytes()) + " bytes of shared memory");
  }
  return mpm_ptr{on_->off_chip_memory() + offset};
}
mpm_ptr<std::byte> memory::shared_malloc(std::size_t bytes) const {
  const auto offset = enter()->shared_blocks().allocate(bytes);
  if (!offset) return {};
  if (allocation_observer* observer = allocations()) {
    observer->allocated(mpm_bytes() + *offset, bytes, "shared memory");
  }
  return mpm_ptr{on_->off_chip_memory() + *offset};
}
void memory::shared_free(mpm_ptr<std::byte> block) const {
  const std::byte* first = enter()->off_chip_memory();
  if (block.address() < first ||
      !on_->shared_blocks().free(static_cast<std::size_t>(block.address() - first))) {
    throw usage_error("simulated chip: shared_free of what shared_malloc did not return");
  }
  if (allocation_observer* observer = allocations()) {
    observer->released(mpm_bytes() + static_cast<std::size_t>(block.address() - first), 0);
  }
}
void memory::private_read(std::size_t bytes, std::size_t working_set) const {
  enter()->private_read(bytes, working_set);
}
void memory::private_write(std::size_t bytes, std::size_t working_set, write_mode mode) const {
  enter()->private_write(bytes, working_set, mode);
}
void memory::flush_l2(bool by_aliases) const {
  const chip_costs& costs = on_->description().costs;
  enter()->charge(by_aliases ? costs.l2_flush_by_aliases : costs.l2_flush);
}
void memory::require_memory(mpm_ptr<const std::byte> first, std::size_t size) const {
  if (size > 0) (void)on_->offset_of(first.address(), size);
}
memory::place_in_block memory::location(mpm_ptr<const std::byte> of) const {
  const std::size_t at = on_->offset_of(of.address());
  const auto first = static_cast<std::size_t>(on_->off_chip_memory() - on_->mpb(core_id{0}));
  if (at < first) throw usage_error("simulated chip: message-passing memory is in no block");
  return {on_->off_chip_layout().entry_for(at - first), (at - first) % lut_block_bytes};
}
lut_entry memory::lut(core_id of, int entry) const {
  return enter()->lut(of, entry);
}
void memory::set_lut(core_id of, int entry, const lut_entry& value) const {
  enter()->set_lut(of, entry, value);
}
mpm_ptr<std::byte> memory::mapped(std::uint32_t address) const {
  return mpm_ptr{enter()->mapped(address)};
}
lut_entry memory::private_block(core_id core, int block) const {
  const std::size_t offset = static_cast<std::size_t>(block) * lut_block_bytes;
  if (core.value < 0 || core.value >= cores() || block < 0 ||
      offset >= on_->description().private_bytes) {
    throw usage_error("simulated chip: core " + std::to_string(core.value) +
                      " has no private block " + std::to_string(block));
  }
  const off_chip& layout = on_->off_chip_layout();
  return layout.entry_for(layout.private_offset(core) + offset);
}
void memory::raise_interrupt(core_id to, int pin) const {
  enter()->raise_interrupt(to, pin);
}
void memory::on_interrupt(std::function<void(int pin)> handler) const {
  enter()->on_interrupt(std::move(handler));
}
// Does not use enter(): an interrupt that is up is the one that halt() ends with.
void memory::halt() const {
  on_->require_running(self_);
  const core_operation begun(*on_);
  begun->halt();
}

}  // namespace creek::scc_backend
