// SPDX-License-Identifier: Apache-2.0
// Lends the place of a sleeping worker to the thread that calls run().
#pragma once

#include "fibers/fiber_switch.hpp"
#include "workers/loan.hpp"
#include "workers/shutdown.hpp"

namespace creek::host_backend {

/// A thread that calls run() on a runtime where nothing goes on acts as a worker until its task has
/// ended, so that neither it nor a worker has to be woken (README.md, "The caller as a worker").
/// Everything that it runs ends before its task does: it leaves the place early if anything else
/// comes up, which might need what the caller holds (a lock, say) or what it does after its call.
class worker_lender {
 public:
  worker_lender(worker_set& workers, ready_work& work, message_service& messages, shutdown& ending,
                fiber_switch& switching) noexcept;

  /// executor::run_here()
  bool run_here(ext::submitted_task& task, ext::strand*& ended);
  /// Returns whether the borrower, which has found `work`, has to leave the place: its task has
  /// ended, something else has come up, or there are tasks that may outlive its call.
  bool must_leave(const loan& borrowed, const found_work& work) const noexcept {
    return borrowed.has_ended() || work_.outside() != 1 || messages_.in_use() ||
           work_.has_futures() || (work.slot() != nullptr && is_of_future(*work.slot())) ||
           shutdown_.finished();
  }

 private:
  bool may_lend() const noexcept;
  bool left_no_futures() noexcept;
  worker* borrow() noexcept;
  worker* take_place() noexcept;
  void visit_worker(loan& borrowed, fiber& first);
  void give_back(loan& borrowed) noexcept;
  bool is_quiet(std::uint32_t idle) const noexcept;

  worker_set& workers_;
  ready_work& work_;
  idle_state& idle_;
  message_service& messages_;
  shutdown& shutdown_;
  fiber_switch& switch_;
  const bool lends_;
};

}  // namespace creek::host_backend
