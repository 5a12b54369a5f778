// SPDX-License-Identifier: Apache-2.0
// Counters of children and places of results in the pools of the workers' message-passing memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "tasks/schedule/schedule_log.hpp"

namespace creek::scc_backend {

/// A context has a counter as long as it has children that were reserved and have not ended; the
/// counter on the chip changes under the register of the core whose pool it lies in. Only cores of
/// the simulation call it.
class pool_bookkeeping final : public ext::task_bookkeeping {
 public:
  pool_bookkeeping(const worker_set& workers, schedule_log& log) noexcept
      : workers_(workers), log_(log) {}

  bool reserve_child(ext::task_context& context) noexcept override;
  void child_ended(ext::task_context& context) noexcept override;
  std::unique_ptr<ext::result_place> reserve_result() noexcept override;
  void about_to_publish() noexcept override;

  /// Reserves two lines of the worker's pool, for a result and its flag, and resets the flag.
  /// Returns nothing if the pool is full: then the task runs at once.
  std::optional<pool_lines> reserve_flagged_result(task_worker& worker) noexcept;
  /// Writes a result and sets its flag.
  void store_result(const pool_lines& place) const noexcept;
  void read_flag(const pool_lines& place) const noexcept;
  /// Returns how often a pool was full.
  std::uint64_t memory_full() const noexcept { return memory_full_; }

 private:
  /// The number of children of one context that have not ended, and where it lies.
  struct child_counter {
    pool_lines place;
    std::int64_t children = 0;
  };

  std::optional<pool_lines> take_lines(task_worker& worker, std::size_t lines) noexcept;
  static void change(task_worker& worker, const child_counter& counter, int by);

  const worker_set& workers_;
  schedule_log& log_;
  std::unordered_map<ext::task_context*, child_counter> children_;
  std::uint64_t memory_full_ = 0;
};

}  // namespace creek::scc_backend
