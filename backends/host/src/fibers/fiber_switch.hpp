// SPDX-License-Identifier: Apache-2.0
// Switches between fibers.
#pragma once

#include "fiber_pool.hpp"
#include "scheduling/ready_work.hpp"

namespace creek::host_backend {

/// Has a worker leave the fiber that it runs and continue another one. A fiber can be published,
/// queued or recycled only when no code runs on its stack any more, so the fiber that runs next
/// does this. The worker in fiber::on runs the fiber; switches are made by that worker alone.
class fiber_switch {
 public:
  fiber_switch(const fiber_pool::setup& setup, ready_work& work) noexcept
      : fibers_(setup), work_(work) {}

  const fiber_pool& fibers() const noexcept { return fibers_; }
  /// Returns an idle fiber, or nullptr if there is none and the system refuses another.
  fiber* idle_fiber(worker& here) noexcept { return fibers_.take(here.idle_fibers); }
  /// Called by a worker without work: see fiber_pool::tend().
  void tend_idle_fibers(worker& here) noexcept { fibers_.tend(here.idle_fibers); }
  /// Leaves the running fiber for `target`; returns when another one is left for it.
  void switch_to(worker& here, fiber& target, departure::kind after) noexcept {
    fiber& self = *here.current;
    arrive(self, leave(here, target, after));
  }
  /// Continues the loop of `self` on `target`; tasks that `self` still holds are left to be taken.
  void leave_for(fiber& self, fiber& target) noexcept;
  /// Leaves `self` for `next`, to which alone it then belongs.
  void leave_held(fiber& self, fiber& next) noexcept;
  /// Leaves the stack until the strand that `publish` was given is resumed.
  void leave_waiting(fiber& self, fiber& next, ext::publish_fn publish, void* argument) noexcept;
  /// Called first on a fiber that was switched to: does what `previous`, the fiber before it, left
  /// to be done. If the wait of that one was over before it began, switches back, and `then` is
  /// done with `self`: a loop, as that may happen again and again.
  void arrive(fiber& self, fiber* previous,
              departure::kind then = departure::kind::recycle) noexcept {
    while (!settle(self, previous)) previous = leave(*self.on, *previous, then);
  }

 private:
  static recorder::absence note_leave(fiber& self) noexcept;
  static void note_return(fiber& self, recorder::absence left) noexcept;
  fiber* leave(worker& here, fiber& target, departure::kind what) noexcept;
  bool settle(fiber& self, fiber* previous) noexcept;
  void park(fiber& left) noexcept;
  void unpark(fiber& self) noexcept;

  fiber_pool fibers_;
  ready_work& work_;
};

}  // namespace creek::host_backend
