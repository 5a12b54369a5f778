// SPDX-License-Identifier: Apache-2.0
// The host thread that runs the simulation of a task runtime.
#pragma once

#include <exception>
#include <functional>
#include <thread>

#include <creek/scc.hpp>

#include "task_observer.hpp"
#include "tasks/pools/pool_bookkeeping.hpp"

namespace creek::scc_backend {

/// Runs the simulation from its first cycle to its last, then writes the chip's records and fills
/// the report. A simulation that fails ends the process: tasks keep their exceptions to themselves,
/// and workers cannot unwind.
class chip_driver {
 public:
  chip_driver(const scc& chosen, worker_set& workers, const schedule_log& log,
              const pool_bookkeeping& books, policy_notices& policy) noexcept
      : chosen_(chosen), workers_(workers), log_(log), books_(books), observer_(workers, policy) {}

  /// Starts the thread; each worker runs `body` on its core. Throws creek::error if there is none.
  void start(std::function<void(task_worker&)> body);
  /// Waits for the end of the simulation. Returns why its records were not written, or null.
  std::exception_ptr join() noexcept;

 private:
  void drive(const std::function<void(task_worker&)>& body) noexcept;
  void write_records(virtual_time ended) noexcept;
  void fill(task_report& report, virtual_time ended) const;

  const scc& chosen_;
  worker_set& workers_;
  const schedule_log& log_;
  const pool_bookkeeping& books_;
  task_observer observer_;
  std::thread thread_;
  std::exception_ptr unwritten_;
};

}  // namespace creek::scc_backend
