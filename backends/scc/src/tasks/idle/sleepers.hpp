// SPDX-License-Identifier: Apache-2.0
// Words by which halted workers are found and woken.
#pragma once

#include "tasks/worker_set.hpp"

namespace creek::scc_backend {

/// Words of core 0's message-passing memory, written under that core's test-and-set register, say
/// who sleeps: the number of sleepers, which all workers read that may have to wake one, and a bit
/// for each.
///
/// No wake-up is lost. A worker that brings something first puts it in its place, then reads the
/// words; a worker that goes to sleep first enters itself, then looks everywhere once more. So one
/// of the two sees the other. The worker that raises the interrupt takes the bit off, and a pin
/// stays up until its core halts: an interrupt that comes too early ends the next halt at once.
class sleepers {
 public:
  /// There are no words unless workers may halt (`some_halt`).
  sleepers(const worker_set& workers, bool some_halt) noexcept
      : workers_(workers), some_halt_(some_halt) {}

  /// Makes the words. Called by core 0, before any worker sleeps.
  void reset(task_worker& worker) const;
  /// Writes the bit of the running worker.
  void enter(task_worker& worker);
  /// Takes the bit of the running worker off. Returns false if another worker has, which has raised
  /// the pin or is about to.
  bool leave(task_worker& worker);
  /// Wakes the first sleeper, by number, that may take tasks: so islands whose cores have high
  /// numbers stay asleep together.
  void wake_taker();
  /// Wakes this worker if it sleeps.
  void wake(task_worker& sleeper);
  unsigned takers_asleep() const noexcept { return takers_asleep_; }

 private:
  static mpm_ptr<word> word_at(task_worker& worker, std::size_t offset);
  bool may_be_some(task_worker& worker) const;
  void write(task_worker& worker, task_worker& sleeper, int by);

  const worker_set& workers_;
  bool some_halt_;
  int count_ = 0;  ///< workers whose bits are written
  unsigned takers_asleep_ = 0;
};

}  // namespace creek::scc_backend
