// SPDX-License-Identifier: Apache-2.0
// Way of work from outside into the simulation, and the simulation's rest while there is none.
#pragma once

#include <exception>

#include "core_messages.hpp"

namespace creek::scc_backend {

/// Taken work counts as pending before the workers that it is for are woken. The simulation stands
/// still, its time too, while nothing is pending; it ends when the runtime stops and no strand
/// waits, or when strands wait and no thread of the process is left that could resume them.
class intake {
 public:
  intake(const worker_set& workers, pending_work& pending, outside_work& outside,
         core_messages& messages, idle_workers& idle) noexcept
      : workers_(workers), pending_(pending), outside_(outside), messages_(messages), idle_(idle) {}

  /// Looks for work in the loop of a worker. While no task from outside runs, the driver looks only
  /// when it rests: so a thread that calls run() again and again finds the simulation in the same
  /// state, however fast it is.
  void look_between_tasks() {
    if (outside_.is_waiting() && !pending_.roots.empty()) look();
  }
  /// Sends the messages of other threads. Called by the first core, in its loop.
  void send_messages();
  /// Called when nothing is pending: sleeps until something comes from outside.
  void rest();

 private:
  void look();
  std::exception_ptr deadlock() const;
  void give_up() noexcept;

  const worker_set& workers_;
  pending_work& pending_;
  outside_work& outside_;
  core_messages& messages_;
  idle_workers& idle_;
};

}  // namespace creek::scc_backend
