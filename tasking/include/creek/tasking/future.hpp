// SPDX-License-Identifier: Apache-2.0
// future, promise and async. Waiting for a future inside a runtime lets the worker do other work.
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/tasking/detail/async_task.hpp>
#include <creek/tasking/detail/future_state.hpp>

namespace creek {

template <class T>
class promise;

/// A result that will be there later. Movable, one owner; destroying it does not wait. A future
/// that is destroyed with an exception that was never taken has it reported on standard error, once
/// the task has ended: see detach().
template <class T>
class [[nodiscard]] future {
 public:
  using value_type = T;

  future() = default;
  future(future&&) noexcept = default;
  future& operator=(future&& other) noexcept {
    future dropped(std::move(*this));
    state_ = std::move(other.state_);
    is_taken_ = other.is_taken_;
    return *this;
  }
  ~future() {
    // The exception in flight is reported where it is caught; one report is enough.
    if (state_ && std::uncaught_exceptions() != 0) state_->drop_silently();
  }
  /// Returns true until get() or then() has consumed the future.
  bool valid() const noexcept { return static_cast<bool>(state_); }
  /// Returns true if get() would not wait. Any thread.
  bool ready() const noexcept { return state_ && state_->ready(); }

  /// Waits for the result and moves it out, or rethrows what the producer threw. On a worker the
  /// strand is suspended and others run; a task that has not begun is run here, on the caller's
  /// stack. On a foreign thread the thread blocks.
  T get() {
    auto state = consume("get");
    state->wait();
    if constexpr (std::is_void_v<T>) {
      state->take();
    } else {
      return state->take();
    }
  }
  /// Like get(), but leaves the result where it is.
  void wait() const {
    require_state("wait");
    state_->wait();
  }
  /// Waits like wait(), but for at most `span`; returns ready or timeout. Never runs the task on
  /// the caller's stack, which might take longer. A span of zero or less only looks. In a task of
  /// the simulated chip the span is one of virtual time.
  template <class Rep, class Period>
  std::future_status wait_for(const std::chrono::duration<Rep, Period>& span) const {
    require_state("wait_for");
    const std::chrono::nanoseconds limit = detail::wait_span(span);
    return state_->wait_at_most(&limit, nullptr) == detail::wait_end::ready
               ? std::future_status::ready
               : std::future_status::timeout;
  }
  /// Does the same until `deadline`, by its clock. Throws usage_error in a task of the simulated
  /// chip, in whose time no clock of the process runs.
  template <class Clock, class Duration>
  std::future_status wait_until(const std::chrono::time_point<Clock, Duration>& deadline) const {
    require_state("wait_until");
    detail::require_clocks("future::wait_until");
    const auto wait = [this](std::chrono::nanoseconds span) {
      return wait_for(span) == std::future_status::ready;
    };
    if (detail::wait_until_deadline(deadline, wait)) return std::future_status::ready;
    return ready() ? std::future_status::ready : std::future_status::timeout;
  }
  /// Waits until the result is there or a stop is requested; returns whether the result is there.
  /// Never runs the task on the caller's stack, where a stop request would not end the wait.
  [[nodiscard]] bool wait(const std::stop_token& stop) const {
    require_state("wait");
    return state_->wait_at_most(nullptr, &stop) == detail::wait_end::ready;
  }
  /// Like get(), but throws cancelled if a stop is requested before the result is there; the future
  /// is then as before.
  T get(const std::stop_token& stop) {
    require_state("get");
    if (state_->wait_at_most(nullptr, &stop) != detail::wait_end::ready) {
      throw cancelled("future::get: a stop was requested before the result was there");
    }
    return get();
  }
  /// Drops the result: the task still runs, and an exception that it throws is not reported.
  void detach() { consume("detach")->drop_silently(); }
  /// Runs `f(result)` as a task once the result is there; f is skipped if there is an exception,
  /// which the returned future passes on. Consumes this future. f may return a value or nothing.
  template <class F>
  auto then(F&& f) {
    return detail::attach_continuation(consume("then"), std::forward<F>(f));
  }

  /// Adopts, or hands out, the shared state. For authors of schedulers and combinators.
  explicit future(detail::state_ptr<detail::future_state<T>> state) noexcept
      : state_(std::move(state)) {}
  detail::future_state<T>* state() const noexcept { return state_.get(); }
  detail::state_ptr<detail::future_state<T>> consume(const char* what) {
    require_state(what);
    is_taken_ = true;
    return std::move(state_);
  }

 private:
  void require_state(const char* what) const {
    if (state_) return;
    throw usage_error(std::string("future::") + what +
                      (is_taken_ ? ": the result was taken before"
                                 : ": the future has no state; it was made empty or moved from"));
  }
  detail::state_ptr<detail::future_state<T>> state_;
  bool is_taken_ = false;  ///< consumed by get(), then() and the like
};

/// The producing end of a future, for results that come from elsewhere. Any thread may fulfil it.
template <class T>
class promise {
 public:
  promise() : state_(new detail::future_state<T>(1)) {}
  promise(promise&&) noexcept = default;
  promise& operator=(promise&& other) noexcept {
    abandon();
    state_ = std::move(other.state_);
    taken_ = std::exchange(other.taken_, false);
    return *this;
  }
  /// An unfulfilled promise gives its future std::future_error(broken_promise).
  ~promise() { abandon(); }

  /// Returns the future. A second call throws usage_error.
  future<T> get_future() {
    if (taken_) throw usage_error("promise::get_future: called twice");
    taken_ = true;
    state_->retain();
    return future<T>(detail::state_ptr<detail::future_state<T>>(state_.get()));
  }
  /// Stores the result (nothing for void) and wakes the waiters. Call it once.
  template <class... Value>
  void set_value(Value&&... value) {
    static_assert(
        std::is_constructible_v<detail::stored_t<T>, Value...>,
        "promise<T>::set_value takes what a T can be made from, and nothing if T is void");
    require_open("set_value");
    state_->emplace(std::forward<Value>(value)...);
    finish();
  }
  void set_exception(std::exception_ptr failure) {
    require_open("set_exception");
    state_->fail(std::move(failure));
    finish();
  }

 private:
  void require_open(const char* what) const {
    if (!state_ || state_->ready()) {
      throw usage_error(std::string("promise::") + what + ": the promise is fulfilled already");
    }
  }
  void finish() noexcept {
    // The waiter may destroy this promise as soon as it is notified.
    state_->retain();
    detail::state_ptr<detail::future_state<T>> keep(state_.get());
    keep->publish_and_resume();
  }
  void abandon() noexcept {
    if (state_ && !state_->ready()) {
      state_->break_promise();
      finish();
    }
  }
  detail::state_ptr<detail::future_state<T>> state_;
  bool taken_ = false;
};

/// Returns a future that is ready already.
template <class T>
future<std::decay_t<T>> make_ready_future(T&& value) {
  promise<std::decay_t<T>> ready;
  ready.set_value(std::forward<T>(value));
  return ready.get_future();
}
inline future<void> make_ready_future() {
  promise<void> ready;
  ready.set_value();
  return ready.get_future();
}

/// Makes f(args...) a task and returns its future. Stores the arguments decayed, as std::async
/// does. The task ends when all that it spawned has ended. Call it inside a runtime (elsewhere use
/// runtime::async). Makes one allocation.
template <class F, class... Arguments>
auto async(priority level, F&& f, Arguments&&... arguments) {
  detail::executor& home = detail::require_executor("async");
  return detail::start_async(
      home, level, detail::bind_task(std::forward<F>(f), std::forward<Arguments>(arguments)...));
}
template <class F, class... Arguments>
auto async(F&& f, Arguments&&... arguments) {
  return creek::async(priority::normal, std::forward<F>(f), std::forward<Arguments>(arguments)...);
}

}  // namespace creek
