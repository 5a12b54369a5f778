// SPDX-License-Identifier: Apache-2.0
// Part of a channel that does not depend on the type of its items: closing, and the lists of those
// that wait for items or for room. tasking/README.md has the protocol.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>

#include <creek/core/messages/spsc_ring.hpp>
#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/core/threads/futex.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/tasking/channel_result.hpp>
#include <creek/tasking/detail/future_state.hpp>

namespace creek::detail {

class channel_base;
class channel_suspension;
class channel_wait;
struct selection;

enum class channel_side : std::uint8_t { room, items };

/// Something that waits for one side of a channel; lies with the waiter. Once it is notified, it is
/// in no list, and the waiter looks at the channel again.
struct channel_waiter {
  enum class state : std::uint8_t { idle, listed, notified };

  channel_base* channel = nullptr;
  channel_side side = channel_side::items;
  state is = state::idle;                    ///< under the channel's lock
  ready_listener* listener = nullptr;        ///< notified under the channel's lock; or, if null:
  channel_suspension* suspension = nullptr;  ///< told under the lock, and continued after that
  channel_waiter* previous = nullptr;
  channel_waiter* next = nullptr;
};

/// The source of a limited wait for one of several channels.
class channel_waiters {
 public:
  static constexpr const char* text = "a channel";
  static constexpr const char* text_or_a_stop = "a channel or a stop request";
  static constexpr const char* text_for_a_limited_time = "a channel, for a limited time";

  channel_waiters(channel_waiter* first, std::size_t count, bool again) noexcept
      : first_(first), count_(count), again_(again) {}

  static wait_reason reason(const char* what) noexcept { return what; }
  /// Puts all waiters on their lists. Returns false if one of the channels may be ready: then none
  /// is on a list.
  bool listen(ready_listener* listener) noexcept;
  /// Takes all off; returns false if one was notified.
  bool unlisten(ready_listener* listener) noexcept;

 private:
  channel_waiter* first_;
  std::size_t count_;
  bool again_;
};

/// The limits of a wait. A default-constructed one has none.
struct channel_limits {
  const std::chrono::nanoseconds* span = nullptr;
  const std::stop_token* stop = nullptr;
};

/// A wait of several rounds for one of several channels. A notification that had no effect when it
/// ends goes to another waiter.
class channel_wait {
 public:
  /// Each waiter has its channel and side; they outlive the wait.
  channel_wait(channel_waiter* first, std::size_t count, const channel_limits& limits);
  ~channel_wait();
  channel_wait(const channel_wait&) = delete;
  channel_wait& operator=(const channel_wait&) = delete;
  /// Waits until a channel may be ready; returns done, timeout or stopped. The caller then tries
  /// all of them.
  channel_status for_a_change();
  /// Says that the operation of waiter `index` was made.
  void made(std::size_t index) noexcept { first_[index].is = channel_waiter::state::idle; }

 private:
  [[nodiscard]] bool any_is_notified() const noexcept;
  [[nodiscard]] bool any_is_ready_soon() const noexcept;

  channel_waiter* first_;
  std::size_t count_;
  channel_limits limits_;
  bool has_spun_ = false;
  deadline_clock::time_point begun_{};
};

/// The wait of a coroutine for one side of a channel; lies in its frame. The coroutine continues as
/// a task of the runtime where it was suspended, or, outside one, on the thread that makes the
/// channel ready.
class channel_suspension : submitted_task {
 public:
  channel_suspension(const channel_suspension&) = delete;
  channel_suspension& operator=(const channel_suspension&) = delete;

  bool await_ready() {
    status_ = attempt();
    return status_ != channel_status::not_ready;
  }
  bool await_suspend(std::coroutine_handle<> coroutine) noexcept;

  /// Called under the channel's lock; returns whether the caller has to call go_on(). If not, the
  /// coroutine looks at the channel again, and its frame may be gone at once.
  [[nodiscard]] bool notify() noexcept;
  void go_on() noexcept;

 protected:
  channel_suspension(channel_base& channel, channel_side side, const char* task) noexcept;
  ~channel_suspension();
  /// Makes the operation if it need not wait.
  virtual channel_status attempt() = 0;
  /// Returns how the operation ended, or rethrows its exception.
  channel_status ended() const {
    if (failure_) std::rethrow_exception(failure_);
    return status_;
  }

 private:
  enum class phase : std::uint8_t { running, suspended, notified };

  [[nodiscard]] bool stays() noexcept;
  [[nodiscard]] bool try_again() noexcept;

  channel_waiter waiter_;
  std::coroutine_handle<> coroutine_;
  executor* home_ = nullptr;
  std::exception_ptr failure_;
  std::atomic<phase> phase_{phase::running};
  bool was_notified_ = false;
  channel_status status_ = channel_status::not_ready;
};

class channel_base {
 public:
  channel_base(const channel_base&) = delete;
  channel_base& operator=(const channel_base&) = delete;

  /// Returns the number of items that the channel has room for.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Returns the number of items in the channel: exact while nobody sends or receives.
  [[nodiscard]] std::size_t size() const noexcept { return place_.size(process_memory{}); }
  /// Returns true if the channel was closed; items may be left.
  [[nodiscard]] bool is_closed() const noexcept {
    const bool closed = closed_.load(std::memory_order_acquire);
    sanitizer::acquired(&closed_);
    return closed;
  }

 protected:
  channel_base(const spsc_place& place, std::size_t capacity) noexcept
      : place_(place), capacity_(capacity) {}
  ~channel_base() = default;

  /// Called after an item was added (side items) or taken (side room), `count` times: wakes as many
  /// waiters. One load if there is none.
  void changed(channel_side side, std::size_t count) noexcept {
    // Pairs with the heavy fence of a waiter that has put itself on the list.
    light_fence();
    if (waiting_[static_cast<int>(side)].load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake(side, count);
  }
  /// Called before a channel is used, on backends that order the strands by a time of their own.
  static void go_in_order() {
    if (any_backend_orders_strands.load(std::memory_order_relaxed)) [[unlikely]]
      let_earlier_strands_go_first();
  }
  /// Closes the channel; returns false if it was closed before. The caller then calls wake_all(),
  /// with no lock held: on some backends other strands run while one is resumed.
  [[nodiscard]] bool mark_closed(std::exception_ptr reason) noexcept;
  void wake_all() noexcept;
  /// Throws the reason if the channel was closed with one.
  void throw_reason() const {
    if (reason_) std::rethrow_exception(reason_);
  }

  /// Calls `attempt`, which returns its status, until it is ready or a limit is reached, and
  /// suspends in between. The first attempt has been made. If an attempt throws that was made
  /// because of a notification, another waiter is woken in place of this one.
  template <class Attempt>
  [[gnu::noinline]] channel_status retry(channel_side side, const channel_limits& limits,
                                         Attempt attempt) {
    channel_waiter waiter;
    waiter.channel = this;
    waiter.side = side;
    channel_wait wait(&waiter, 1, limits);
    for (;;) {
      const channel_status ended = wait.for_a_change();
      if (ended != channel_status::done) return ended;
      const channel_status status = attempt();
      if (status == channel_status::not_ready) continue;
      wait.made(0);
      return status;
    }
  }

 private:
  friend channel_suspension;
  friend channel_waiters;
  friend channel_wait;
  friend struct selection;

  struct list {
    channel_waiter* first = nullptr;
    channel_waiter* last = nullptr;
  };

  [[nodiscard]] bool is_ready(channel_side side) const noexcept {
    return is_closed() || (side == channel_side::items ? size() != 0 : size() < capacity_);
  }
  [[nodiscard]] bool is_ready_soon(channel_side side) const noexcept;
  void wake(channel_side side, std::size_t count) noexcept;
  /// Wakes another waiter in place of one that has not used the channel, if it is ready.
  void pass_on(channel_side side) noexcept;
  void add(channel_waiter& waiter, bool in_front) noexcept;
  bool remove(channel_waiter& waiter) noexcept;
  void unlink(channel_waiter& waiter) noexcept;
  static void let_earlier_strands_go_first();

  // Read at every operation, written when somebody waits.
  alignas(64) spsc_place place_;
  std::size_t capacity_;
  std::atomic<bool> closed_{false};
  std::atomic<std::uint32_t> waiting_[2]{};  ///< the lengths of the lists
  // Used by those who wait and wake.
  alignas(64) spin_lock lock_;
  list lists_[2];
  std::exception_ptr reason_;  ///< set before `closed_`
};

}  // namespace creek::detail
