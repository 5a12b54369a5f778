// SPDX-License-Identifier: Apache-2.0
// How a worker without work passes its time.
#pragma once

#include <creek/core/measuring/clock.hpp>

#include "fibers/fiber_switch.hpp"
#include "sleep_protocol.hpp"

namespace creek::host_backend {

/// Searches, spins, yields, naps and sleeps as the idle policy and the power policy say, until
/// there is work or the scheduler has finished. A worker that takes tasks is counted as a searcher
/// for all that time, unless it sleeps; the last searcher that leaves with work wakes the next
/// worker, since pushes relied on it.
class idle_loop {
 public:
  idle_loop(worker_set& workers, ready_work& work, message_service& messages, work_search& search,
            shutdown& ending, fiber_switch& fibers, hang_watch& hangs) noexcept
      : workers_(workers),
        waker_(work.waking()),
        messages_(messages),
        search_(search),
        shutdown_(ending),
        fibers_(fibers),
        sleep_(workers, work, messages, search, ending, hangs) {}

  /// Called before any thread begins. Makes the workers that take tasks sleepers if they would
  /// sleep without work, so that run() can begin before their threads do and the end need not wake
  /// them.
  void begin_asleep() noexcept;
  /// Called by a thread that begins, on its own stack: waits while its worker sleeps.
  void begin(worker& self) noexcept;
  /// Goes on after begin(), on a fiber.
  found_work find_first_work(worker& self);
  /// Looks once, then waits. A worker beyond those that the policy wants awake does not even look.
  /// Returns no work if the scheduler has finished.
  found_work find_work(worker& self);

 private:
  found_work await_work(worker& self);
  found_work search(worker& self, found_work found);
  found_work await_calls(worker& self);
  found_work spin(worker& self, std::chrono::nanoseconds limit);
  found_work block(worker& self, idle_policy how);
  found_work nap(worker& self);
  idle_plan plan_wait(const worker& self) const noexcept;
  void yield_now_and_then(ticks waited, ticks& yield_at) const noexcept;
  void found_while_searching() noexcept;
  bool is_end_near() const noexcept;

  worker_set& workers_;
  waker& waker_;
  message_service& messages_;
  work_search& search_;
  shutdown& shutdown_;
  fiber_switch& fibers_;
  sleep_protocol sleep_;
};

}  // namespace creek::host_backend
