// SPDX-License-Identifier: Apache-2.0
// How a worker falls asleep and leaves its sleep.
#pragma once

#include "hang_watch.hpp"
#include "scheduling/work_search.hpp"
#include "workers/shutdown.hpp"

namespace creek::host_backend {

/// The sleeper's side of the idle protocol (README.md, "Sleeping and waking"). A worker registers,
/// arms the deque of every running strand, passes a heavy fence and looks everywhere once more
/// before it waits in the kernel; so a push or a message is either seen by that look or sees the
/// sleeper. sleep() and rest() are entered and left as a searcher.
class sleep_protocol {
 public:
  sleep_protocol(worker_set& workers, ready_work& work, message_service& messages,
                 work_search& search, shutdown& ending, hang_watch& hangs) noexcept
      : workers_(workers),
        work_(work),
        waker_(work.waking()),
        messages_(messages),
        search_(search),
        shutdown_(ending),
        hangs_(hangs) {}

  /// Sleeps until there is work; returns work that was found after that.
  found_work sleep(worker& self) noexcept;
  /// Called first by a worker's thread, where the worker began as a sleeper: sleeps until it is
  /// woken, and is a searcher then.
  void begin(worker& self) noexcept;
  /// The sleep of a worker beyond those that the policy wants awake, although there may be work.
  found_work rest(worker& self) noexcept;
  /// The sleep of a worker that serves only: until it is called, or the scheduler has finished.
  void sleep_until_called(worker& self) noexcept;
  /// Returns whether more workers are awake than the policy wants.
  bool too_many_awake() const noexcept {
    return waker_.governor().policy() != nullptr &&
           waker_.governor().too_many_awake(waker_.state().sleepers()) && !shutdown_.requested();
  }

 private:
  found_work sleep_begun(worker& self, bool rests) noexcept;
  void take_permit(worker& self) noexcept;
  void arm_all() noexcept;
  bool all_armed() const noexcept;
  void awake(worker& self) noexcept;

  worker_set& workers_;
  ready_work& work_;
  waker& waker_;
  message_service& messages_;
  work_search& search_;
  shutdown& shutdown_;
  hang_watch& hangs_;
};

}  // namespace creek::host_backend
