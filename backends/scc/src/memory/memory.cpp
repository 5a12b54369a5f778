// SPDX-License-Identifier: Apache-2.0
// Passes the calls of the memory policy to the machine.
#include <creek/scc/memory.hpp>

#include <cassert>

#include "chip/noted_caller.hpp"

namespace creek::scc_backend {

std::size_t memory::mpm_bytes() const noexcept {
  return on().description().mpb_bytes;
}
mpm_ptr<std::byte> memory::at(core_id core, std::size_t offset) const noexcept {
  assert(core.value >= 0 && core.value < cores());
  return mpm_ptr{on().memory().bytes().mpb(core) + offset};
}
int memory::counters() const noexcept {
  return on().memory().registers().counters();
}
std::uint32_t memory::load_word(const void* address, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  return on().memory().lines().load_word(on().memory().bytes().offset_of(address), size);
}
void memory::store_word(void* address, std::uint32_t value, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  on().memory().lines().store_word(on().memory().bytes().offset_of(address), value, size);
}
void memory::read(void* to, mpm_ptr<const std::byte> from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0)
    on().memory().lines().read(to, on().memory().bytes().offset_of(from.address(), size), size);
}
void memory::load_words(void* to, mpm_ptr<const std::byte> from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  on().memory().lines().invalidate();
  if (size > 0)
    on().memory().lines().load_row(to, on().memory().bytes().offset_of(from.address(), size), size);
}
void memory::write(mpm_ptr<std::byte> to, const void* from, std::size_t size) const {
  const core_operation begun = enter();
  note_caller(*begun);
  if (size > 0)
    on().memory().lines().write(on().memory().bytes().offset_of(to.address(), size), from, size);
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
void memory::charge(cycles length) const {
  const core_operation begun = enter();
  begun->computing().charge(begun.ends_stretch() ? cycles{}
                                                 : length);  // measured time need not be stated
}
void memory::wake_halted(const void* address) const {
  const core_operation begun(on());
  begun->waits().signals().wake_halted(on().memory().bytes().offset_of(address));
}
std::uint64_t memory::stores_seen() const {
  return enter()->memory().watchers().stores_to(self());
}

}  // namespace creek::scc_backend
