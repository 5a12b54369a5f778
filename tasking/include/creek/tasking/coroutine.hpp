// SPDX-License-Identifier: Apache-2.0
// C++20 coroutines: co_await a future, and functions that return future<T> as coroutines.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include <creek/tasking/detail/resume_coroutine.hpp>
#include <creek/tasking/detail/task_name.hpp>
#include <creek/tasking/future.hpp>

namespace creek {

namespace detail {

/// Continues a coroutine as a task of the runtime it was suspended in, or, outside one, on the
/// thread that made the future ready. Lives in the coroutine's frame.
template <class T>
class future_awaiter : private ready_listener, private submitted_task {
 public:
  explicit future_awaiter(state_ptr<future_state<T>> state) noexcept
      : state_(std::move(state)), home_(current_executor()) {
    notify = [](ready_listener* self) noexcept -> strand* {
      auto* me = static_cast<future_awaiter*>(self);
      if (me->home_ != nullptr) {
        me->home_->submit(me);
      } else {
        me->coroutine_.resume();
      }
      return nullptr;
    };
    name = task_name<future_awaiter>();
    run = [](submitted_task* self) noexcept {
      static constexpr task_type type{nullptr, task_name<future_awaiter>()};
      resume_as_task(static_cast<future_awaiter*>(self)->coroutine_, type);
    };
  }
  bool await_ready() const noexcept { return state_->ready(); }
  bool await_suspend(std::coroutine_handle<> coroutine) noexcept {
    coroutine_ = coroutine;
    return state_->listen(this);
  }
  T await_resume() {
    if constexpr (std::is_void_v<T>) {
      state_->take();
    } else {
      return state_->take();
    }
  }

 private:
  state_ptr<future_state<T>> state_;
  executor* home_;
  std::coroutine_handle<> coroutine_;
};

/// Ends a coroutine: its future becomes ready only when its locals, its arguments and its hold on
/// an exception are gone, so that the waiter may destroy what they refer to.
struct final_awaiter {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> coroutine) const noexcept {
    auto state = coroutine.promise().hand_over();
    coroutine.destroy();
    state->publish_and_resume();
  }
  void await_resume() const noexcept {}
};

template <class T>
class coroutine_promise_base {
 public:
  coroutine_promise_base() = default;
  coroutine_promise_base(const coroutine_promise_base&) = delete;
  coroutine_promise_base& operator=(const coroutine_promise_base&) = delete;
  /// A coroutine that is destroyed before its end breaks its promise.
  ~coroutine_promise_base() {
    if (!state_) return;
    state_->break_promise();
    state_->publish_and_resume();
  }
  future<T> get_return_object() {
    state_->retain();
    return future<T>(state_ptr<future_state<T>>(state_.get()));
  }
  /// Starts the coroutine at once on the caller.
  std::suspend_never initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { state_->fail(std::current_exception()); }
  state_ptr<future_state<T>> hand_over() noexcept { return std::move(state_); }

 protected:
  state_ptr<future_state<T>> state_{new future_state<T>(1)};
};

template <class T>
class coroutine_promise : public coroutine_promise_base<T> {
 public:
  template <class Value>
  void return_value(Value&& value) {
    static_assert(std::is_constructible_v<T, Value>,
                  "a coroutine that returns future<T> must co_return what a T can be made from");
    this->state_->emplace(std::forward<Value>(value));
  }
};
template <>
class coroutine_promise<void> : public coroutine_promise_base<void> {
 public:
  void return_void() { state_->emplace(); }
};

}  // namespace detail

/// `T value = co_await std::move(f);` in any coroutine. It continues as a task of the runtime where
/// it was suspended. Consumes the future.
template <class T>
detail::future_awaiter<T> operator co_await(future<T>&& awaited) {
  return detail::future_awaiter<T>(awaited.consume("co_await"));
}
template <class T>
detail::future_awaiter<T> operator co_await(future<T>&) {
  static_assert(!std::is_same_v<T, T>, "co_await consumes a future: write co_await std::move(f)");
}

}  // namespace creek

/// Lets a function that returns creek::future<T> be a coroutine.
template <class T, class... Arguments>
struct std::coroutine_traits<creek::future<T>, Arguments...> {
  using promise_type = creek::detail::coroutine_promise<T>;
};
