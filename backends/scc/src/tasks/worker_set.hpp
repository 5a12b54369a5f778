// SPDX-License-Identifier: Apache-2.0
// The workers of a task runtime and the chip that they are cores of.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "chip/machine.hpp"
#include "task_worker.hpp"

namespace creek::scc_backend {

/// All workers, by the numbers of their cores. Only the thread
/// that drives the simulation asks which worker runs, and at what time.
class worker_set {
 public:
  worker_set(machine& chip, unsigned count) : chip_(chip) {
    for (unsigned i = 0; i < count; ++i) {
      workers_.push_back(std::make_unique<task_worker>(chip, core_id{static_cast<int>(i)}));
    }
  }

  std::size_t size() const noexcept { return workers_.size(); }
  auto begin() const noexcept { return workers_.begin(); }
  auto end() const noexcept { return workers_.end(); }
  task_worker& operator[](std::size_t core) const noexcept { return *workers_[core]; }

  machine& chip() const noexcept { return chip_; }
  /// Returns the worker whose core runs.
  task_worker& here() const noexcept { return *workers_[chip_.simulation().running().index()]; }
  virtual_time now() const noexcept { return chip_.simulation().now(); }
  /// Returns the time as a task sees it: what the task has computed counts.
  virtual_time now_after_stretch() const {
    const core_operation begun(chip_);
    return now();
  }

  counter_values counters() const noexcept {
    counter_values sum;
    for (const auto& each : workers_) sum += each->counters.snapshot();
    return sum;
  }

  /// Returns the workers whose simulation the calling thread drives, or nullptr.
  static const worker_set* driven_here() noexcept { return driven; }
  bool are_driven_here() const noexcept { return driven == this; }
  /// Sets them for the calling thread.
  static void drive(const worker_set* workers) noexcept { driven = workers; }

 private:
  static inline thread_local constinit const worker_set* driven = nullptr;

  machine& chip_;
  std::vector<std::unique_ptr<task_worker>> workers_;
};

}  // namespace creek::scc_backend
