// SPDX-License-Identifier: Apache-2.0
// A worker: a thread, the fiber it runs, and its private data.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <creek/core/counters.hpp>
#include <creek/core/sanitizer.hpp>
#include <creek/core/spin_lock.hpp>
#include <creek/core/trace.hpp>
#include <creek/tasking/detail/remote_cell.hpp>
#include <creek/tasking/detail/strand.hpp>

#include "fiber.hpp"

namespace creek::host_backend {

/// A queue of fibers linked through fiber::link, with a size that may be read without the lock.
class fiber_queue {
 public:
  void push(fiber& added) noexcept;
  fiber* pop() noexcept;
  bool empty() const noexcept { return size() == 0; }
  std::uint32_t size() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  spin_lock lock_;
  fiber* head_ = nullptr;
  fiber* tail_ = nullptr;
  std::atomic<std::uint32_t> count_{0};
};

/// Counts a foreign thread while it hands something over: that may already be run, and the
/// scheduler be shut down, before the thread is out of here.
class visit {
 public:
  visit(std::atomic<std::uint32_t>& visitors, bool is_foreign) noexcept
      : visitors_(is_foreign ? &visitors : nullptr) {
    if (visitors_ != nullptr) visitors_->fetch_add(1, std::memory_order_relaxed);
  }
  ~visit() {
    if (visitors_ == nullptr) return;
    sanitizer::releases(visitors_);
    visitors_->fetch_sub(1, std::memory_order_release);
  }
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

 private:
  std::atomic<std::uint32_t>* visitors_;
};

/// Messages that wait in their worker's own memory, first in, first out. Only that worker uses it.
class letter_queue {
 public:
  letter_queue() = default;
  letter_queue(const letter_queue&) = delete;
  letter_queue& operator=(const letter_queue&) = delete;
  ~letter_queue() {
    while (detail::kept_message* unused = spare_.pop()) delete unused;
  }
  bool empty() const noexcept { return queue_.empty(); }
  std::size_t size() const noexcept { return queue_.size(); }
  void push(const void* message, std::size_t bytes) {
    detail::kept_message* unused = spare_.pop();
    if (unused == nullptr) unused = new detail::kept_message;
    unused->assign(message, bytes);
    queue_.push(unused);
  }
  detail::kept_message* pop() noexcept { return queue_.pop(); }
  /// Takes back a popped message that is not needed any more, for another push().
  void recycle(detail::kept_message* unused) noexcept {
    if (spare_.size() >= most_spare) {
      delete unused;
    } else {
      spare_.push(unused);
    }
  }

 private:
  static constexpr std::size_t most_spare = 512;
  detail::message_queue queue_, spare_;
};

/// Action due for the fiber that was just left, once its context is saved.
struct departure {
  enum class kind : std::uint8_t { none, recycle, make_ready, publish } what = kind::none;
  fiber* left = nullptr;
  detail::publish_fn publish = nullptr;
  void* argument = nullptr;
};

struct alignas(128) worker {
  scheduler* home = nullptr;
  unsigned index = 0;
  bool serves_only = false;  ///< takes no tasks but those of calls that wait here
  fiber* current = nullptr;
  fiber* idle_fibers = nullptr;  ///< pool; only this worker uses it
  unsigned idle_count = 0;
  departure after;
  fiber native;  ///< stands for the thread's own stack
  std::uint64_t random_state = 0;
  unsigned last_victim = 0;
  unsigned small_steals = 0;                  ///< stolen tasks in a row that were not worth it
  std::vector<unsigned> near_first;           ///< other workers by distance
  std::atomic<trace::track*> track{nullptr};  ///< null: not traced
  worker_counters counters;
  bool woke = false;  ///< its last message woke another worker
  letter_queue kept;  ///< messages that came while others were handled or sent
  std::thread thread;

  /// Read by thieves.
  alignas(64) std::atomic<detail::task_stack*> active{nullptr};
  fiber_queue ready;
  /// Read by senders of messages.
  fiber_queue bound;                    ///< ready fibers that stay here
  std::atomic<bool> asleep{false};      ///< it sleeps, or is about to
  std::atomic<std::uint32_t> rings{0};  ///< of a worker that serves only: calls from sleep

  std::uint64_t random() noexcept {  // xorshift64* [Vigna 2016]
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1DULL;
  }
};

}  // namespace creek::host_backend
