// SPDX-License-Identifier: Apache-2.0
#include "movable_workers.hpp"

#include <utility>

namespace creek::detail {

movable_workers::movable_workers(runtime& workers)
    : runtime_(workers), threads_(workers.worker_count()) {
  for (std::size_t i = threads_; i > 0; --i) free_.push_back(i - 1);
  want(0);
}

movable_workers::~movable_workers() {
  std::unique_lock lock(mutex_);
  stop();
  wanted_ = 1;
  ended_.wait(lock, [&] { return all_ended(); });
}

void movable_workers::want(std::size_t for_ranks) noexcept {
  wanted_.store(threads_ - 1 + for_ranks, std::memory_order_relaxed);
}

void movable_workers::add(movable_bag&& tasks) {
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return tasks.clear();
  shares_.push_back(std::move(tasks));
  count_.store(shares_.size(), std::memory_order_relaxed);
  if (!free_.empty()) start_one();
}

/// Called with the lock.
void movable_workers::start_one() {
  const std::size_t thread = free_.back();
  free_.pop_back();
  try {
    (void)runtime_.async([this, thread]() noexcept { work(thread); });
  } catch (...) {
    free_.push_back(thread);
    throw;
  }
}

bool movable_workers::take(movable_bag& tasks) {
  const std::lock_guard lock(mutex_);
  if (shares_.empty()) return false;
  tasks = std::move(shares_.front());
  shares_.pop_front();
  count_.store(shares_.size(), std::memory_order_relaxed);
  return true;
}

bool movable_workers::take_or_end(movable_bag& tasks, std::size_t thread) {
  if (take(tasks)) return true;
  const std::lock_guard lock(mutex_);
  if (!shares_.empty()) return true;  // added since
  free_.push_back(thread);
  if (all_ended()) ended_.notify_all();
  return false;
}

void movable_workers::work(std::size_t thread) noexcept {
  movable_bag tasks;
  tasks.result = results_[thread];
  while (take_or_end(tasks, thread)) {
    try {
      while (!tasks.empty()) {
        tasks.run_newest();
        if (count_.load(std::memory_order_relaxed) < wanted_.load(std::memory_order_relaxed)) {
          share(tasks);
        }
      }
    } catch (...) {
      tasks.clear();
      fail();
    }
  }
}

void movable_workers::share(movable_bag& tasks) {
  if (is_stopped_) return tasks.clear();
  if (tasks.size() > 1) add(tasks.split());
}

/// Called while the exception of a task is handled.
void movable_workers::fail() noexcept {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::current_exception();
  stop();
}

/// Called with the lock. Workers notice it by the lack of shares.
void movable_workers::stop() noexcept {
  is_stopped_ = true;
  shares_.clear();
  count_ = 0;
}

bool movable_workers::wait_for(std::chrono::microseconds time) {
  std::unique_lock lock(mutex_);
  const bool has_ended = ended_.wait_for(lock, time, [&] { return all_ended(); });
  if (failure_) {
    ended_.wait(lock, [&] { return all_ended(); });
    std::rethrow_exception(failure_);
  }
  return has_ended;
}

}  // namespace creek::detail
