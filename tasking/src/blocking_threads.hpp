// SPDX-License-Identifier: Apache-2.0
// The threads of a process on which calls may block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <mutex>
#include <thread>

#include <creek/tasking/blocking.hpp>

namespace creek::detail {

/// Threads for calls that block: as many as there are calls at once, up to a limit. One object per
/// process (per_process): calls may block for longer than the process lives.
class blocking_threads {
 public:
  /// Has a thread run the call and then resume its waiter. Returns false if there is no thread and
  /// none can be started. Any thread.
  [[nodiscard]] bool submit(blocking_call& call) noexcept;
  /// Ends the threads that do not run a call, and the others after their call.
  void end() noexcept;

 private:
  using threads = std::list<std::thread>;

  void start();
  void run(threads::iterator self) noexcept;
  void end_if_in_child() const noexcept;
  blocking_call* next_call(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  blocking_call* oldest_ = nullptr;  ///< calls that no thread has taken
  blocking_call* newest_ = nullptr;
  std::size_t queued_ = 0;
  std::size_t idle_ = 0;     ///< threads that wait for a call
  std::size_t calling_ = 0;  ///< threads inside a call
  bool ended_ = false;
  bool joined_ = false;  ///< end() has joined those that had ended
  threads running_;
  std::thread last_ended_;  ///< to be joined by the next thread that ends
};

}  // namespace creek::detail
