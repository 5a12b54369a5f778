// SPDX-License-Identifier: Apache-2.0
// C++20 coroutines: co_await a future, and functions that return future<T> as coroutines.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

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
    run = [](submitted_task* self) noexcept {
      // The coroutine's exceptions end in its promise; a task frame gives it a scope of its own.
      static constexpr task_type type{nullptr, task_name<future_awaiter>()};
      auto resumed = static_cast<future_awaiter*>(self)->coroutine_;
      error_slot error;
      run_framed<ending::strict>(resumed, nullptr, &type, error);
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

template <class T>
class coroutine_promise_base {
 public:
  future<T> get_return_object() { return promise_.get_future(); }
  /// Starts at once on the caller.
  std::suspend_never initial_suspend() const noexcept { return {}; }
  std::suspend_never final_suspend() const noexcept { return {}; }
  void unhandled_exception() { promise_.set_exception(std::current_exception()); }

 protected:
  promise<T> promise_;
};

template <class T>
class coroutine_promise : public coroutine_promise_base<T> {
 public:
  template <class Value>
  void return_value(Value&& value) {
    this->promise_.set_value(std::forward<Value>(value));
  }
};
template <>
class coroutine_promise<void> : public coroutine_promise_base<void> {
 public:
  void return_void() { promise_.set_value(); }
};

}  // namespace detail

/// `T value = co_await std::move(f);` in any coroutine. It continues as a task of the runtime where
/// it was suspended. Consumes the future.
template <class T>
detail::future_awaiter<T> operator co_await(future<T>&& awaited) {
  return detail::future_awaiter<T>(awaited.consume("co_await"));
}

}  // namespace creek

/// Lets a function that returns creek::future<T> be a coroutine.
template <class T, class... Arguments>
struct std::coroutine_traits<creek::future<T>, Arguments...> {
  using promise_type = creek::detail::coroutine_promise<T>;
};
