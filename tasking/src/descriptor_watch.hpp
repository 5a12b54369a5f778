// SPDX-License-Identifier: Apache-2.0
// The descriptors for which tasks of a process wait, and the thread that watches them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include <creek/tasking/detail/future_state.hpp>

namespace creek::detail {

/// A wait for a descriptor; lies in the waiter's frame.
struct descriptor_wait {
  int descriptor = -1;
  std::uint32_t events = 0;  ///< of epoll: EPOLLIN or EPOLLOUT
  ready_listener* listener = nullptr;
  descriptor_wait* next = nullptr;  ///< another wait for this descriptor
};

/// Watches descriptors by epoll. One per process (per_process); its thread starts with the first
/// wait and ends with the process.
class descriptor_watch {
 public:
  /// Has the listener notified, once, when the descriptor is ready. Returns 0, or the reason why
  /// that is impossible: EPERM for a descriptor that is always ready. Any thread.
  [[nodiscard]] int add(descriptor_wait& added) noexcept;
  /// Takes a wait off again; returns false if its listener was called, or will be.
  bool remove(descriptor_wait& removed) noexcept;
  /// Ends the thread if nobody waits; afterwards add() refuses (ECANCELED).
  void end_if_idle() noexcept;

 private:
  using waits = std::map<int, descriptor_wait*>;

  int start() noexcept;
  int watch(int descriptor, bool is_new) noexcept;
  void run() noexcept;
  void mark_if_blocked() noexcept;
  bool take_off(waits::iterator of, descriptor_wait** at) noexcept;
  strand* next_ready(int descriptor, std::uint32_t events) noexcept;

  std::mutex mutex_;
  waits waits_;
  int epoll_ = -1;
  int end_event_ = -1;  ///< an event that ends the thread
  std::thread thread_;
  bool is_ended_ = false;
  std::optional<blocked_thread_mark> blocks_;  ///< the thread has nothing to wait for
};

}  // namespace creek::detail
