// SPDX-License-Identifier: Apache-2.0
// Sections of programs that change data shared by workers: under the test-and-set register of a
// core, with their words in uncached shared memory.
#include "task_runtime.hpp"

namespace creek::scc_backend {

/// Reads the register in the order of virtual time, and the word after it, too: from there on the
/// caller's changes are made at the caller's time.
void task_runtime::enter(unsigned owner) noexcept {
  const core_operation begun(chip_);
  workers_.here().memory.lock(core_id{static_cast<int>(owner)});
  chip_.memory().bulk().touch_words(owner, 1);
}

void task_runtime::leave(unsigned owner, unsigned words) noexcept {
  const core_operation begun(chip_);
  chip_.memory().bulk().touch_words(owner, words);
  workers_.here().memory.clear(core_id{static_cast<int>(owner)});
  policy_.settle_clock();
}

std::chrono::nanoseconds task_runtime::time() noexcept {
  return std::chrono::nanoseconds{workers_.now_after_stretch().femtoseconds / 1'000'000};
}

}  // namespace creek::scc_backend
