// SPDX-License-Identifier: Apache-2.0
// Waiting when the system refuses another stack (memory or mappings used up).
#pragma once

#include "fiber_switch.hpp"
#include "scheduling/work_search.hpp"
#include "workers/task_runner.hpp"

namespace creek::host_backend {

/// Has a strand wait on its own stack, from which its worker makes progress: it goes on with
/// strands that are ready, takes a stack as soon as there is one, and, while the stack is less than
/// half full, runs other tasks on top. The last is what a runtime without fibers does for every
/// wait; it is the one situation in which a task may have to wait for one that it has buried, as
/// docs/tasking-lifecycle.md says. Waits nest; only the innermost one on a stack can leave it.
class in_place_waiter {
 public:
  in_place_waiter(ready_work& work, message_service& messages, work_search& search,
                  fiber_switch& switching, task_runner& runner) noexcept
      : work_(work), messages_(messages), search_(search), switch_(switching), runner_(runner) {}

  /// Returns when the strand that `publish` was given is resumed.
  void wait(fiber& self, ext::publish_fn publish, void* argument) noexcept;

  /// Called to resume `suspended`: returns the fiber to make ready for that, or null if the waiting
  /// fiber was notified where it is. Its release pairs with the load in wait().
  static fiber* off_stack(ext::strand* suspended) noexcept;

 private:
  bool make_progress(fiber& self, in_place_wait& wait, ext::task_slot* bottom) noexcept;
  void leave_wait(fiber& self, fiber& next, in_place_wait& wait) noexcept;

  ready_work& work_;
  message_service& messages_;
  work_search& search_;
  fiber_switch& switch_;
  task_runner& runner_;
};

}  // namespace creek::host_backend
