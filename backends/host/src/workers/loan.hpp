// SPDX-License-Identifier: Apache-2.0
// The place of a worker in the hands of another thread.
#pragma once

#include "fibers/fiber.hpp"
#include "scheduling/found_work.hpp"

namespace creek::host_backend {

class waker;

/// Lies in the frame of the borrower's call. The task resumes the loan, as a strand, when it has
/// ended.
struct loan : host_strand {
  loan(worker& place, fiber& thread, ext::submitted_task& first) noexcept;

  bool has_ended() const noexcept { return news.load(std::memory_order_acquire) == ended; }
  /// Called by the thread that ends the task.
  void end(waker& waking) noexcept;
  /// Called by the borrower when it has left the place: sleeps until the task has ended.
  void wait() noexcept;

  worker& lent;
  fiber& native;              ///< stands for the borrower's own stack
  ext::submitted_task* task;  ///< null once it has begun
  found_work kept;            ///< found by the borrower, for the worker's own thread

 private:
  enum state : std::uint32_t { under_way, awaited, ended };
  std::atomic<std::uint32_t> news{under_way};
};

}  // namespace creek::host_backend
