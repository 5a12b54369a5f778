// SPDX-License-Identifier: Apache-2.0
// Coroutines as processes: sources with co_yield, stages that also co_await the next item.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/stream/port.hpp>

namespace creek::stream {

/// `co_await next_item` in a coroutine<U(T)> waits for the next item and gives a
/// std::optional<T>, which is empty at the end.
struct next_item_tag {};
inline constexpr next_item_tag next_item{};

namespace detail {

/// An awaiter for what is there when it is asked: the strand waits, the coroutine does not suspend.
template <class Get>
struct got_at_once {
  Get get;
  [[nodiscard]] bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  decltype(auto) await_resume() { return get(); }
};
template <class Get>
got_at_once(Get) -> got_at_once<Get>;

template <class Future>
concept gettable = requires(Future&& future) {
  std::forward<Future>(future).get();
};

/// The promise of a coroutine that writes items of type U.
template <class U>
class writing_promise {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  std::suspend_always final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() noexcept { failure_ = std::current_exception(); }
  template <class V = U>
  requires std::constructible_from<U, V> std::suspend_never yield_value(V&& value) {
    to_->write(std::forward<V>(value));
    return {};
  }
  /// A future, or anything else with a get(), which is called; the end of the network does not end
  /// that wait.
  template <gettable Future>
  auto await_transform(Future&& future) {
    return got_at_once{[&]() -> decltype(auto) {
      return to_->wait_elsewhere(
          [&]() -> decltype(auto) { return std::forward<Future>(future).get(); });
    }};
  }
  void write_to(out<U>& to) noexcept { to_ = &to; }
  [[nodiscard]] std::exception_ptr failure() const noexcept { return failure_; }

 private:
  out<U>* to_ = nullptr;
  std::exception_ptr failure_;
};

/// Adds co_await next_item.
template <class U, class T>
class reading_promise : public writing_promise<U> {
 public:
  using writing_promise<U>::await_transform;
  auto await_transform(next_item_tag) {
    return got_at_once{[this] { return from_->read(); }};
  }
  void read_from(in<T>& from) noexcept { from_ = &from; }

 private:
  in<T>* from_ = nullptr;
};

/// Owns the frame of a coroutine that runs once.
template <class Promise>
class coroutine_frame {
 public:
  explicit coroutine_frame(std::coroutine_handle<Promise> frame) noexcept : frame_(frame) {}
  coroutine_frame(coroutine_frame&& from) noexcept : frame_(std::exchange(from.frame_, {})) {}
  coroutine_frame& operator=(coroutine_frame&& from) noexcept {
    std::swap(frame_, from.frame_);
    return *this;
  }
  ~coroutine_frame() {
    if (frame_) frame_.destroy();
  }
  /// Throws usage_error unless the coroutine has yet to run.
  [[nodiscard]] Promise& promise() const {
    if (!frame_ || frame_.done()) throw usage_error("stream: a coroutine runs once");
    return frame_.promise();
  }
  void run() const {
    frame_.resume();
    if (std::exception_ptr failure = frame_.promise().failure()) std::rethrow_exception(failure);
  }

 private:
  std::coroutine_handle<Promise> frame_;
};

}  // namespace detail

/// A coroutine as a process of a network or pipeline: coroutine<U()> is a source, which writes what
/// it yields by `co_yield`; coroutine<U(T)> a stage, which also reads by `co_await next_item`, and
/// yields any number of items for one. It runs once, on the strand of its process; `co_await` of a
/// future waits there.
template <class Signature>
class coroutine;

template <class U>
class coroutine<U()> {
 public:
  using item_type = U;
  struct promise_type : detail::writing_promise<U> {
    coroutine get_return_object() noexcept {
      return coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };
  void operator()(out<U>& to) {
    frame_.promise().write_to(to);
    frame_.run();
  }

 private:
  explicit coroutine(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  detail::coroutine_frame<promise_type> frame_;
};

template <class U, class T>
class coroutine<U(T)> {
 public:
  using item_type = U;
  struct promise_type : detail::reading_promise<U, T> {
    coroutine get_return_object() noexcept {
      return coroutine(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };
  void operator()(in<T>& from, out<U>& to) {
    frame_.promise().read_from(from);
    frame_.promise().write_to(to);
    frame_.run();
  }

 private:
  explicit coroutine(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  detail::coroutine_frame<promise_type> frame_;
};

}  // namespace creek::stream
