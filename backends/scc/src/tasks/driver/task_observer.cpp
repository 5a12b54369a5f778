// SPDX-License-Identifier: Apache-2.0
#include "task_observer.hpp"

#include <creek/scc/work_costs.hpp>

namespace creek::scc_backend {

/// Reads the register in the order of virtual time, and the word after it, too: from there on the
/// caller's changes are made at the caller's time.
void task_observer::entered(unsigned owner) noexcept {
  const core_operation begun(workers_.chip());
  workers_.here().memory.lock(core_id{static_cast<int>(owner)});
  workers_.chip().memory().bulk().touch_words(owner, 1);
}

void task_observer::left(unsigned owner, std::span<const work_amount> done) noexcept {
  const core_operation begun(workers_.chip());
  workers_.chip().memory().bulk().touch_words(owner, words_of_turn(done));
  workers_.here().memory.clear(core_id{static_cast<int>(owner)});
  policy_.settle_clock();
}

}  // namespace creek::scc_backend
