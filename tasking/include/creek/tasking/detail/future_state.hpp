// SPDX-License-Identifier: Apache-2.0
// State shared by a future and its producer: a result, its waiters, and async's closure.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>

#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/task_context.hpp>

namespace creek::ext {
struct reply;
}

namespace creek::detail {

template <class T>
using stored_t = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// Listener that is notified when a state becomes ready; lives with the waiter.
struct ready_listener {
  ready_listener* told_after = nullptr;
  /// Called once, when the state has become ready, mostly by the thread that made it so. Returns a
  /// strand to resume, if that is all there is to do.
  strand* (*notify)(ready_listener* self) noexcept = nullptr;
};

/// Task or call that makes a state ready, for reports.
struct state_producer {
  const char* task = nullptr;   ///< name of the task's kind; null: not known
  std::uintptr_t claim = 0;     ///< 0: has not begun; else the strand's task_stack, if any, plus 1
  const reply* call = nullptr;  ///< the call whose outcome it is, or null
};

/// How a wait ended.
enum class wait_end : std::uint8_t { ready, timeout, stopped };

class future_state_base {
 public:
  future_state_base(const future_state_base&) = delete;
  future_state_base& operator=(const future_state_base&) = delete;
  virtual ~future_state_base() {
    if (error_ && !is_dropped_silently_.load(std::memory_order_relaxed)) [[unlikely]] {
      report_dropped(error_);
    }
  }

  bool ready() const noexcept {
    if (listeners_.load(std::memory_order_acquire) != ready_tag) return false;
    sanitizer::acquired(&listeners_);
    follow_others();
    return true;
  }
  /// Registers a listener; returns false if the state is ready: then the listener is not called.
  bool listen(ready_listener* listener) noexcept;
  /// Takes a listener off again; returns false if the state is ready: then the listener has been
  /// called, or will be.
  bool unlisten(ready_listener* listener) noexcept;
  /// Blocks until ready: runs the producer here if it has not begun, else suspends the caller.
  void wait();
  /// Suspends the caller until the state is ready, `limit` (if any) has passed, or `stop` (if any)
  /// is requested. Never runs the producer here, which might take longer.
  wait_end wait_at_most(const std::chrono::nanoseconds* limit, const std::stop_token* stop);
  /// Called after the result or exception was stored: publishes it and notifies the listeners.
  /// Returns one strand for the caller to resume; others have been resumed.
  [[nodiscard]] strand* publish() noexcept;
  void publish_and_resume() noexcept {
    if (strand* next = publish()) next->home->resume(next);
  }
  void fail(std::exception_ptr failure) noexcept { error_ = std::move(failure); }
  const std::exception_ptr& failure() const noexcept { return error_; }
  std::exception_ptr take_failure() noexcept { return std::exchange(error_, nullptr); }
  /// Fails with std::future_error(broken_promise), which is not reported if it is never taken.
  void break_promise() noexcept;
  /// Returns who makes the state ready, as far as that is known. The state must be kept alive.
  virtual state_producer made_by() const noexcept { return {}; }
  /// Keeps an exception that is never taken from being reported. Any holder of a reference.
  void drop_silently() noexcept { is_dropped_silently_.store(true, std::memory_order_relaxed); }

  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    sanitizer::releases(&references_);
    // The last reference often is the only one left: then no read-modify-write is needed.
    if (references_.load(std::memory_order_acquire) == 1 ||
        references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      sanitizer::acquired(&references_);
      delete this;
    }
  }

 protected:
  explicit future_state_base(int references) noexcept : references_(references) {}
  /// Runs the producer on this stack if it has not begun. Called on a strand of a runtime.
  virtual void help() noexcept {}
  /// Returns a word that is 0 until something has changed.
  const std::atomic<std::uintptr_t>& news() const noexcept { return listeners_; }

 private:
  void put_back(ready_listener* first, ready_listener* last) noexcept;
  /// Writes one line to standard error.
  static void report_dropped(const std::exception_ptr& failure) noexcept;

  static constexpr std::uintptr_t ready_tag = 1;
  std::atomic<std::uintptr_t> listeners_{0};
  std::atomic<int> references_;
  std::atomic<bool> is_dropped_silently_{false};
  std::exception_ptr error_;
};

/// Returns the span in nanoseconds, rounded up, and no longer than longest_wait.
template <class Rep, class Period>
std::chrono::nanoseconds wait_span(const std::chrono::duration<Rep, Period>& span) {
  const std::chrono::duration<double> seconds = span;
  if (seconds >= longest_wait) return longest_wait;
  return seconds.count() > 0 ? std::chrono::ceil<std::chrono::nanoseconds>(span)
                             : std::chrono::nanoseconds{0};
}
/// Calls wait_for(span), which returns true once the wait is over, with the time that is left until
/// `deadline` by its clock; returns false if the deadline has passed and the wait is not over.
template <class Clock, class Duration, class WaitFor>
bool wait_until_deadline(const std::chrono::time_point<Clock, Duration>& deadline,
                         WaitFor wait_for) {
  using seconds = std::chrono::duration<double>;  // the end of time may not fit the clock's unit
  for (auto now = Clock::now();; now = Clock::now()) {
    const seconds left = seconds(deadline.time_since_epoch()) - seconds(now.time_since_epoch());
    const bool is_far = left >= longest_wait;
    if (!is_far && now >= deadline) return false;
    if (is_far ? wait_for(wait_span(longest_wait)) : wait_for(wait_span(deadline - now)))
      return true;
  }
}
/// Throws usage_error if `what` needs a clock and the caller is a task in a time of its own.
void require_clocks(const char* what);

/// Owning pointer to a state.
template <class State>
class state_ptr {
 public:
  state_ptr() = default;
  explicit state_ptr(State* adopted) noexcept : state_(adopted) {}
  state_ptr(state_ptr&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  state_ptr& operator=(state_ptr&& other) noexcept {
    state_ptr dropped(std::move(*this));
    state_ = std::exchange(other.state_, nullptr);
    return *this;
  }
  ~state_ptr() {
    if (state_ != nullptr) state_->release();
  }
  State* operator->() const noexcept { return state_; }
  State& operator*() const noexcept { return *state_; }
  State* get() const noexcept { return state_; }
  /// Forgets the state without dropping the reference, which has another owner now.
  void disown() noexcept { state_ = nullptr; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  State* state_ = nullptr;
};

template <class T>
class future_state : public future_state_base {
 public:
  static_assert(!std::is_reference_v<T>,
                "a future holds a value: use a pointer or std::reference_wrapper for a reference");

  explicit future_state(int references) noexcept : future_state_base(references) {}

  template <class... Arguments>
  void emplace(Arguments&&... arguments) {
    value_.emplace(std::forward<Arguments>(arguments)...);
  }
  /// Moves the result out, or throws the producer's exception. The state must be ready. The
  /// exception leaves the state, and so ends in the thread that handles it.
  stored_t<T> take() {
    if (failure()) std::rethrow_exception(take_failure());
    return std::move(*value_);
  }

 private:
  std::optional<stored_t<T>> value_;
};

/// Stores the outcome of `function` in `state`, without publishing it.
template <class T, class F>
void store_outcome(future_state<T>& state, F&& function) noexcept {
  try {
    if constexpr (std::is_void_v<T>) {
      std::forward<F>(function)();
      state.emplace();
    } else {
      state.emplace(std::forward<F>(function)());
    }
  } catch (...) {
    state.fail(std::current_exception());
  }
}

}  // namespace creek::detail
