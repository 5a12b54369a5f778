// SPDX-License-Identifier: Apache-2.0
// Work that threads outside the simulation hand in, and the rest of the driver until some comes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <creek/tasking/ext/remote_cell.hpp>

namespace creek::scc_backend {

/// A message from a thread outside. It keeps its object while it waits, or a later message could
/// overtake it.
struct outside_message {
  unsigned to;
  std::unique_ptr<ext::kept_message> message;

  /// Returns the object that it is for, unless it is the object's last message.
  ext::remote_cell* kept_object() const noexcept;
};

/// Any thread hands in; the driver alone takes and rests. Once closed, it refuses all that comes.
class outside_work {
 public:
  struct batch {
    std::vector<ext::submitted_task*> tasks;
    std::vector<ext::strand*> strands;
    std::vector<outside_message> messages;
    std::size_t size() const noexcept { return tasks.size() + strands.size() + messages.size(); }
  };
  enum class [[nodiscard]] outcome : std::uint8_t{arrived, stopped, closed};

  // Any thread.
  /// Takes a task; if closed, notifies its waiter instead.
  void hand_in(ext::submitted_task* task) noexcept;
  void hand_in(ext::strand* resumed) noexcept;
  void hand_in(unsigned to, std::unique_ptr<ext::kept_message> message) noexcept;
  /// Tells the driver that nothing follows but what suspended strands wait for.
  void stop() noexcept;

  // The driver.
  bool is_waiting() const noexcept { return some_waits_.load(std::memory_order_acquire); }
  batch take() noexcept;
  /// Sleeps until there is something to take, or until stop() if no strand waits. If strands wait
  /// and no thread is left that could bring what they wait for, closes with the reason that
  /// `deadlock` returns.
  outcome rest(bool strands_wait, const std::function<std::exception_ptr()>& deadlock);
  /// Returns why nothing is accepted any more, or null.
  const std::exception_ptr& closed_by() const noexcept { return closed_by_; }

 private:
  void begin_rest() noexcept;
  void end_rest() noexcept;
  void call_driver() noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  batch waiting_;
  bool stopping_ = false;
  bool resting_ = false;
  /// Set once, by the driver, which reads it without the lock.
  std::exception_ptr closed_by_;
  std::atomic<bool> some_waits_{false};
};

}  // namespace creek::scc_backend
