// SPDX-License-Identifier: Apache-2.0
// A runtime as an execution context of Boost.Asio (1.74 or newer): handlers, coroutines and the
// completions of sockets and timers run as tasks. The including program provides Boost's headers.
#pragma once

#if !__has_include(<boost/asio/execution_context.hpp>)
#error "creek/tasking/asio.hpp needs the headers of Boost.Asio (Debian: libboost-dev)"
#endif
#include <atomic>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include <creek/tasking/future.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek {

template <bool IsTracked>
class basic_asio_executor;

namespace detail {

/// A function that counts as work of its context until it is destroyed.
template <class Executor, class F>
struct counted_call {
  Executor counted;
  F function;
  void operator()() { static_cast<void>(function()); }
};

}  // namespace detail

/// Runs functions on the workers of a runtime, through its executor. As cheap to copy as a pointer.
using asio_executor = basic_asio_executor<false>;

/// A runtime as boost::asio sees it. Sockets and timers that are made with its executor complete in
/// tasks; a thread of Asio's own waits for the system meanwhile. Sockets of an io_context complete
/// in tasks if their handlers are bound to the executor (boost::asio::bind_executor).
class asio_context : public boost::asio::execution_context {
 public:
  using executor_type = asio_executor;

  /// The runtime must live longer. Any thread.
  explicit asio_context(runtime& workers) : home_(&detail::executor_of(workers)) {}
  /// Waits like join().
  ~asio_context() {
    join();
    shutdown();
    destroy();
  }
  executor_type get_executor() noexcept;

  /// Waits until every function that was given to the executor has ended and no operation of a
  /// socket or a timer is pending: close them first. The executor must not be used afterwards.
  void join() {
    if (!is_joined_.exchange(true, std::memory_order_relaxed)) work_finished();
    ended_.wait();
  }

 private:
  template <bool IsTracked>
  friend class basic_asio_executor;

  void work_started() noexcept { work_.fetch_add(1, std::memory_order_relaxed); }
  void work_finished() noexcept {
    // The context may be gone once the promise is fulfilled.
    if (work_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_ended_.set_value();
  }

  detail::executor* home_;
  std::atomic<std::size_t> work_{1};  ///< one until join()
  std::atomic<bool> is_joined_{false};
  promise<void> all_ended_;
  future<void> ended_ = all_ended_.get_future();
};

/// An executor as Boost.Asio requires it (boost::asio::execution::executor), for post(),
/// dispatch(), defer(), bind_executor(), co_spawn(), make_strand() and any_io_executor. Each
/// function becomes a task that never runs in its caller; tasks begin in order, as far as workers
/// are free. It may do what tasks do: fork, spawn, wait. Only below a boost::asio::strand it must
/// not wait for anything (nor fork), because Asio notes the thread that runs a strand, and a task
/// may continue on another. An exception that leaves a function is reported on standard error.
/// Makes one allocation per function.
template <bool IsTracked>
class basic_asio_executor {
 public:
  explicit basic_asio_executor(asio_context& context) noexcept : context_(&context) { start(); }
  basic_asio_executor(const basic_asio_executor& other) noexcept : context_(other.context_) {
    start();
  }
  basic_asio_executor& operator=(const basic_asio_executor& other) noexcept {
    basic_asio_executor copy(other);
    std::swap(context_, copy.context_);
    return *this;
  }
  ~basic_asio_executor() {
    if constexpr (IsTracked) context_->work_finished();
  }

  template <class F>
  void execute(F&& f) const {
    static_assert(
        std::is_constructible_v<std::decay_t<F>, F> && std::is_invocable_v<std::decay_t<F>&>,
        "the executor calls a copy of the function, without arguments");
    using call = detail::counted_call<basic_asio_executor<true>, std::decay_t<F>>;
    detail::executor& home = *context_->home_;
    auto* made = new detail::async_state<call>(
        call{basic_asio_executor<true>(*context_), std::forward<F>(f)});
    const detail::state_ptr<detail::future_state<void>> unused(made);
    if (home.bookkeeping() != nullptr) {
      made->start(home);
    } else {
      made->name = detail::task_name<std::decay_t<F>>();
      home.submit(made);  // not onto the caller's deque, where it would begin before older ones
    }
  }

  asio_context& query(boost::asio::execution::context_t) const noexcept { return *context_; }
  static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  static constexpr boost::asio::execution::relationship_t query(
      boost::asio::execution::relationship_t) noexcept {
    return boost::asio::execution::relationship.fork;
  }
  static constexpr boost::asio::execution::outstanding_work_t query(
      boost::asio::execution::outstanding_work_t) noexcept {
    if constexpr (IsTracked) {
      return boost::asio::execution::outstanding_work.tracked;
    } else {
      return boost::asio::execution::outstanding_work.untracked;
    }
  }
  basic_asio_executor require(boost::asio::execution::blocking_t::never_t) const noexcept {
    return *this;
  }
  basic_asio_executor require(boost::asio::execution::relationship_t::fork_t) const noexcept {
    return *this;
  }
  basic_asio_executor<true> require(
      boost::asio::execution::outstanding_work_t::tracked_t) const noexcept {
    return basic_asio_executor<true>(*context_);
  }
  basic_asio_executor<false> require(
      boost::asio::execution::outstanding_work_t::untracked_t) const noexcept {
    return basic_asio_executor<false>(*context_);
  }

  friend bool operator==(const basic_asio_executor& a, const basic_asio_executor& b) noexcept {
    return a.context_ == b.context_;
  }
  friend bool operator!=(const basic_asio_executor& a, const basic_asio_executor& b) noexcept {
    return a.context_ != b.context_;
  }

 private:
  void start() noexcept {
    if constexpr (IsTracked) context_->work_started();
  }

  asio_context* context_;
};

inline asio_executor asio_context::get_executor() noexcept {
  return asio_executor(*this);
}

}  // namespace creek
