// SPDX-License-Identifier: Apache-2.0
// Whether the tasks of a graph still run, and which did not: cancelling, failures, the first
// exception. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <stop_token>
#include <utility>

#include <creek/tasking.hpp>

namespace creek::linalg::detail {

class graph_failure {
 public:
  explicit graph_failure(std::stop_token stop) noexcept : stop_(std::move(stop)) {}

  void cancel() noexcept { cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const noexcept {
    return cancelled_.load(std::memory_order_relaxed) || stop_.stop_requested();
  }
  /// Counts a task that did not run.
  void skip() noexcept {
    skipped_.fetch_add(1, std::memory_order_relaxed);
    failed_.store(true, std::memory_order_relaxed);
  }
  /// Keeps the exception of a task if it is the first.
  void fail(std::exception_ptr why) noexcept {
    failed_.store(true, std::memory_order_relaxed);
    first_.store(std::move(why));
  }
  /// Returns whether a task failed or was skipped; counts all tasks that the caller saw finish.
  bool has_failed() const noexcept { return failed_.load(std::memory_order_relaxed); }
  std::size_t skipped() const noexcept { return skipped_.load(std::memory_order_relaxed); }
  /// Returns the first exception, and forgets everything but a requested stop. Called when all
  /// tasks have ended.
  std::exception_ptr take() noexcept {
    cancelled_.store(false, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    skipped_.store(0, std::memory_order_relaxed);
    return first_.take();
  }

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> failed_{false};
  std::atomic<std::size_t> skipped_{0};
  std::stop_token stop_;
  creek::ext::error_slot first_;
};

}  // namespace creek::linalg::detail
