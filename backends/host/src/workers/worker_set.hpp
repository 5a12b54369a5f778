// SPDX-License-Identifier: Apache-2.0
// The workers of a scheduler and their threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>

#include <creek/core/measuring/counters.hpp>
#include <creek/core/measuring/trace.hpp>
#include <creek/core/threads/visitors.hpp>
#include <creek/tasking/options.hpp>

#include "worker.hpp"

namespace creek::host_backend {

/// Counts fork() calls that led to this process: workers of another count are not here.
extern std::atomic<unsigned> fork_count;

/// Owns the workers, whose number never changes, and their threads, which run between start() and
/// join(). The threads exist only in the process that made them: in a child of fork() the set is
/// lost, and nothing may wait for it.
class worker_set {
 public:
  /// Throws usage_error if the options are wrong. `home` is the executor of the workers' strands.
  worker_set(scheduler_options options, const ext::executor& home);

  worker* begin() const noexcept { return workers_.get(); }
  worker* end() const noexcept { return begin() + size(); }
  unsigned size() const noexcept { return options_.workers; }
  worker& operator[](std::size_t index) const noexcept { return workers_[index]; }
  /// Returns the number of workers that take tasks.
  unsigned consumers() const noexcept { return consumers_; }
  /// Returns whether the workers that take no tasks sleep.
  bool servers_sleep() const noexcept {
    return std::all_of(begin(), end(), [](const worker& each) {
      return !each.serves_only || each.asleep.load(std::memory_order_seq_cst);
    });
  }
  /// Returns the number of suspended strands; exact while all workers sleep.
  std::int64_t suspended_strands() const noexcept {
    return std::accumulate(
        begin(), end(), std::int64_t{0},
        [](std::int64_t sum, const worker& each) { return sum + each.suspended.get(); });
  }
  /// Returns whether there are more workers than CPUs that this process may use.
  bool oversubscribed() const noexcept { return oversubscribed_; }
  const scheduler_options& options() const noexcept { return options_; }

  /// Returns the index of the worker that calls, -1 for other threads.
  int index_of_caller() const noexcept {
    if (ext::current_stack == nullptr || ext::current_stack->home() != home_) return -1;
    return static_cast<int>(caller().index);
  }
  /// Returns the calling worker, which must be one of some scheduler.
  static worker& caller() noexcept { return *fiber_of(ext::current_stack)->on; }

  /// Starts the threads with `run`. Throws creek::error if the system refuses one; those that were
  /// started run then.
  void start(void (*run)(worker& self));
  void join() noexcept;

  bool lost_in_fork() const noexcept {
    return fork_id_ != fork_count.load(std::memory_order_relaxed);
  }
  /// Throws usage_error if the workers are lost.
  void require_present() const;
  /// Ends a lost worker that came back from its task; going on would run the tasks of the parent
  /// process a second time.
  void end_if_lost() const noexcept {
    if (lost_in_fork()) [[unlikely]]
      end_lost();
  }

  /// Foreign threads that hand something over.
  visitors& guests() noexcept { return guests_; }
  counter_values counters() const;
  /// Gives each worker a recorder, unless it has one.
  void make_recorders();
  void record_in(trace::session& session);

 private:
  [[noreturn, gnu::cold]] static void end_lost() noexcept;

  const ext::executor* home_;
  const unsigned fork_id_;
  const scheduler_options options_;
  const unsigned consumers_;
  const bool oversubscribed_;
  const std::unique_ptr<worker[]> workers_;
  std::unique_ptr<recorder[]> recorders_;  ///< null: no records
  const std::unique_ptr<std::byte[]> signal_stacks_;
  visitors guests_;
};

}  // namespace creek::host_backend
