// SPDX-License-Identifier: Apache-2.0
// The simulation: cores with a clock each, on stacks of their own, in one host thread. A core runs
// ahead while its actions concern no other core; before anything that others can observe it waits
// until no other core could still do something earlier. So observable operations happen in the
// order of (time, core), always the same. Source: conservative simulation [Chandy 1979]; in one
// thread a heap of clocks takes the place of null messages.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>

#include <creek/core/core_id.hpp>
#include <creek/scc/virtual_time.hpp>

#include "core_fibers.hpp"
#include "event_queue.hpp"
#include "run_failure.hpp"
#include "simulated_cores.hpp"

namespace creek::scc_backend {

/// The running core never acts later than a core that is ready: it lets that one run first. A
/// parked core has no event in the queue, unless it is parked until a time.
class engine {
 public:
  /// Maps the stacks at once; throws creek::error if the system refuses them.
  engine(int cores, std::size_t stack_bytes);

  /// Runs `body` on every core until all have returned. Rethrows the first exception; the waits of
  /// the other cores then throw creek::error (ECANCELED). A deadlock is such an exception: what()
  /// has a line for each core that waits. Call it once per engine.
  void run(const std::function<void(core_id)>& body);

  // --- Only on a simulated core ----------------------------------------------------------------
  core_id running() const noexcept { return core_id{fibers_.running()}; }
  virtual_time now() const noexcept { return here_->clock; }
  void advance(virtual_time span) noexcept { here_->clock += span; }
  void set_clock(virtual_time time) noexcept { here_->clock = time; }

  /// Returns when every other core is past (time, this core): the caller's actions until its next
  /// call happen at `time`, which must not lie before that of its last call.
  void order_at(virtual_time time) {
    if (ready_.empty() || !(ready_.earliest() < core_event{time, fibers_.running()})) [[likely]]
      return;
    let_earlier_run(time);
  }

  /// Gives the core up until wake(). `what` and `address` name, in a deadlock's report, the awaited
  /// thing. Throws creek::error (ECANCELED) if the run was aborted.
  void park(const char* what, std::uint64_t address);
  /// Like park(), but until `time` at the latest; returns false if it was not woken before.
  bool park_until(const char* what, std::uint64_t address, virtual_time time);
  /// Notes, for a report, that the running core looked for something in vain and goes on.
  void polls(const char* what, std::uint64_t address) noexcept {
    here_->waits_for = what;
    here_->waits_at = address;
  }
  /// Lets a parked core go on at `time`, which is not before that of the caller's last order_at().
  void wake(core_id core, virtual_time time);

  /// Ends the run: releases all waiting cores, to unwind; run() then throws the first failure.
  void fail(std::exception_ptr why) noexcept;

  // --- Its parts ---------------------------------------------------------------------------------
  simulated_cores& cores() noexcept { return cores_; }
  core_fibers& fibers() noexcept { return fibers_; }
  run_failure& failure() noexcept { return failure_; }

 private:
  void run_core() noexcept;
  void let_earlier_run(virtual_time time);
  void resume(core_event next);
  void switch_to_next();

  simulated_cores cores_;
  event_queue ready_;
  core_fibers fibers_;
  simulated_core* here_ = &cores_[0];  ///< the core that runs
  run_failure failure_;
  const std::function<void(core_id)>* body_ = nullptr;
};

}  // namespace creek::scc_backend
