// SPDX-License-Identifier: Apache-2.0
// The workers that run the movable tasks of a rank. Each has a bag of its own; the oldest tasks of
// some lie in shares, for workers and other ranks that have none.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <vector>

#include <creek/tasking/detail/movable_bag.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek::detail {

class movable_workers {
 public:
  explicit movable_workers(runtime& workers);
  movable_workers(const movable_workers&) = delete;
  movable_workers& operator=(const movable_workers&) = delete;
  /// Waits for the tasks that run; drops the others.
  ~movable_workers();

  [[nodiscard]] std::size_t threads() const noexcept { return threads_; }
  /// While no task runs: from now on worker i adds to results[i].
  void set_results(const std::vector<void*>& results) { results_ = results; }
  /// Wants so many shares for other ranks.
  void want(std::size_t for_ranks) noexcept;
  /// Adds tasks, and lets one more worker run them if one is free. Any thread.
  void add(movable_bag&& tasks);
  /// Takes the oldest share. Returns whether there was one.
  [[nodiscard]] bool take(movable_bag& tasks);
  /// Waits until no task is left, at most so long, and returns whether none is. Rethrows what a
  /// task has thrown, after the last one that runs has ended.
  [[nodiscard]] bool wait_for(std::chrono::microseconds time);

 private:
  void work(std::size_t thread) noexcept;
  [[nodiscard]] bool take_or_end(movable_bag& tasks, std::size_t thread);
  void share(movable_bag& tasks);
  void start_one();
  void fail() noexcept;
  void stop() noexcept;
  [[nodiscard]] bool all_ended() const noexcept { return free_.size() == threads_; }

  runtime& runtime_;
  const std::size_t threads_;
  std::vector<void*> results_;

  std::mutex mutex_;
  std::condition_variable ended_;
  std::deque<movable_bag> shares_;       ///< the oldest first
  std::vector<std::size_t> free_;        ///< threads that run no tasks
  std::exception_ptr failure_;           ///< the first one
  std::atomic<bool> is_stopped_{false};  ///< no task begins any more
  /// Read by workers after each task: size of shares_, and how many there should be.
  std::atomic<std::size_t> count_{0}, wanted_;
};

}  // namespace creek::detail
