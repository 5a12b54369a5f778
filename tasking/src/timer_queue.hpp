// SPDX-License-Identifier: Apache-2.0
// The timers of a process: limits of waits, and the thread that ends the waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <creek/core/threads/futex.hpp>
#include <creek/tasking/ext/executor.hpp>

namespace creek::ext {

/// Limits of waits, by their deadlines. One per process (per_process); its thread starts with the
/// first timer, sleeps until the earliest deadline, and ends with the process.
class timer_queue {
 public:
  /// A limit in the queue; from its constructor to its destructor, in the waiter's frame.
  class [[nodiscard]] entry {
   public:
    /// Throws error if the thread cannot be started.
    explicit entry(wait_limit& limit);
    /// Afterwards limit.expire is not called any more.
    ~entry();
    entry(const entry&) = delete;
    entry& operator=(const entry&) = delete;

   private:
    friend timer_queue;
    timer_queue& queue_;
    wait_limit& limit_;
    std::multimap<deadline_clock::time_point, entry*>::iterator
        place_;  ///< the end once it is over
  };

  /// Ends the thread unless it has a wait to end; another one starts with the next timer.
  void end_if_idle() noexcept;

 private:
  static constexpr auto never = deadline_clock::time_point::max();

  static timer_queue& of_process();
  void start();
  void add(entry& added);
  void remove(entry& removed) noexcept;
  void run(unsigned generation) noexcept;
  void mark_if_blocked() noexcept;
  strand* expire_next() noexcept;

  std::mutex mutex_;
  std::multimap<deadline_clock::time_point, entry*> entries_;
  std::thread thread_;
  unsigned generation_ = 0;  ///< raised to end the thread
  bool sleeps_ = false;
  std::optional<blocked_thread_mark> blocks_;  ///< the thread sleeps, and has nothing to do
  deadline_clock::time_point sleeps_until_ = deadline_clock::time_point::min();
  std::atomic<std::uint32_t> changes_{0};  ///< raised to wake the thread
};

}  // namespace creek::ext
