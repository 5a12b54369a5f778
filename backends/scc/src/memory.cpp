// SPDX-License-Identifier: Apache-2.0
// The view of one core: checks that it is used there, and hands on to the machine.
#include <creek/scc/memory.hpp>

#include "machine.hpp"

namespace creek::scc_backend {

int memory::cores() const noexcept {
  return on_->description().cores();
}
std::size_t memory::mpm_bytes() const noexcept {
  return on_->description().mpb_bytes;
}
mpm_ptr<std::byte> memory::at(core_id core, std::size_t offset) const noexcept {
  return mpm_ptr{on_->mpb(core) + offset};
}
int memory::counters() const noexcept {
  return on_->counters();
}

std::uint32_t memory::load_word(const void* address, std::size_t size) const {
  on_->require_running(self_);
  return on_->load_word(on_->offset_of(address), size);
}
void memory::store_word(void* address, std::uint32_t value, std::size_t size) const {
  on_->require_running(self_);
  on_->store_word(on_->offset_of(address), value, size);
}
void memory::read(void* to, mpm_ptr<const std::byte> from, std::size_t size) const {
  on_->require_running(self_);
  if (size > 0) on_->read(to, on_->offset_of(from.address()), size);
}
void memory::write(mpm_ptr<std::byte> to, const void* from, std::size_t size) const {
  on_->require_running(self_);
  if (size > 0) on_->write(on_->offset_of(to.address()), from, size);
}
void memory::invalidate() const {
  on_->require_running(self_);
  on_->invalidate();
}
void memory::flush() const {
  on_->require_running(self_);
  on_->flush();
}
bool memory::test_and_set(core_id id) const {
  on_->require_running(self_);
  return on_->test_and_set(id);
}
void memory::clear(core_id id) const {
  on_->require_running(self_);
  on_->clear(id);
}
word memory::fetch_increment(counter_id id) const {
  on_->require_running(self_);
  return on_->fetch_increment(id);
}
void memory::set_counter(counter_id id, word value) const {
  on_->require_running(self_);
  on_->set_counter(id, value);
}
void memory::pause(cycles length) const {
  on_->require_running(self_);
  on_->simulation().throw_if_aborted();
  on_->spend(length);
}
void memory::charge(cycles length) const {
  on_->require_running(self_);
  on_->spend(length);
}
virtual_time memory::now() const {
  on_->require_running(self_);
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
  const int level = on_->power_state().level_at(power_domain(), now());
  return on_->description().power.levels[static_cast<std::size_t>(level)].voltage;
}
bool memory::is_safe(int divider) const {
  on_->power_state().require_divider(divider);
  return on_->power_state().is_safe(power_domain(), divider, now());
}
void memory::set_frequency_divider(int divider) const {
  on_->require_running(self_);
  on_->set_frequency_divider(divider);
}
power_request memory::request_power(int divider) const {
  on_->require_running(self_);
  return on_->request_power(divider);
}
void memory::wait_power(const power_request& request) const {
  on_->require_running(self_);
  on_->wait_power(request);
}
energy_account memory::switch_energy_account(energy_account to) const {
  on_->require_running(self_);
  return on_->switch_account(to);
}
void memory::await_store(const void* address) const {
  on_->await_store(on_->offset_of(address));
}
std::uint64_t memory::stores_seen() const {
  on_->require_running(self_);
  return on_->stores_to(self_);
}
void memory::await_own_store(std::uint64_t seen_before, virtual_time began) const {
  on_->await_own_store(seen_before, began);
}

}  // namespace creek::scc_backend
