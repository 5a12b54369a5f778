// SPDX-License-Identifier: Apache-2.0
// Schedulers and senders in the shape of P2300 (std::execution): a scheduler whose senders complete
// on the workers of a runtime, and ways from futures to senders and back. Needs no other library.
// <creek/tasking/stdexec.hpp> has the same for the algorithms of stdexec.
#pragma once

#include <concepts>
#include <exception>
#include <stop_token>
#include <utility>

#include <creek/tasking/detail/future_sender.hpp>
#include <creek/tasking/detail/task_operation.hpp>
#include <creek/tasking/execution.hpp>
#include <creek/tasking/future.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek {

namespace detail {

template <class Words, class Receiver>
class schedule_operation final : public task_operation<schedule_operation<Words, Receiver>> {
 public:
  using operation_state_concept = typename Words::operation_state_tag;

  schedule_operation(executor& home, Receiver&& to) noexcept
      : home_(&home), receiver_(std::move(to)) {}
  void start() & noexcept { this->submit_to(*home_); }

 private:
  friend task_operation<schedule_operation>;
  void complete() noexcept {
    if (stop_requested_of<Words>(receiver_)) {
      std::move(receiver_).set_stopped();
    } else {
      std::move(receiver_).set_value();
    }
  }
  void fail(std::exception_ptr why) noexcept { std::move(receiver_).set_error(std::move(why)); }

  executor* home_;
  Receiver receiver_;
};

template <class Words>
class schedule_sender;

}  // namespace detail

/// A handle of a runtime: schedule() returns a sender that completes in a task of it. As cheap to
/// copy as a pointer; equal if the runtime is the same. Must not be used after the runtime has
/// ended, nor in a child of fork(). A template so that it serves stdexec too; use task_scheduler.
///
/// Any thread may start such an operation, which never blocks. On the host backend it allocates
/// nothing, and operations begin in the order in which they were started. It completes with
/// set_stopped() if a stop was requested by the token in the receiver's environment when the task
/// begins, and else with set_value(); with set_error(std::exception_ptr) only if the simulated chip
/// finds itself in a deadlock. The receiver may do what a task may: fork, spawn, wait. The runtime
/// ends when all operations that were started have completed.
template <class Words>
class basic_task_scheduler {
 public:
  using scheduler_concept = typename Words::scheduler_tag;

  /// For authors of schedulers; others call get_scheduler().
  explicit basic_task_scheduler(ext::executor& home) noexcept : home_(&home) {}

  detail::schedule_sender<Words> schedule() const noexcept {
    return detail::schedule_sender<Words>(*this);
  }
  friend bool operator==(const basic_task_scheduler&, const basic_task_scheduler&) = default;

 private:
  friend detail::schedule_sender<Words>;
  detail::executor* home_;
};

using task_scheduler = basic_task_scheduler<detail::own_words>;

namespace detail {

template <class Words>
class schedule_sender {
 public:
  using sender_concept = typename Words::sender_tag;
  using completion_signatures = typename Words::template completion_signatures<
      typename Words::set_value_t(), typename Words::set_error_t(std::exception_ptr),
      typename Words::set_stopped_t()>;

  /// Says where the sender completes.
  struct environment {
    basic_task_scheduler<Words> scheduler;
    template <class Completion>
    requires(std::same_as<Completion, typename Words::set_value_t> ||
             std::same_as<Completion, typename Words::set_stopped_t>)  //
        basic_task_scheduler<Words> query(
            typename Words::template get_completion_scheduler_t<Completion>)
    const noexcept { return scheduler; }
  };

  explicit schedule_sender(basic_task_scheduler<Words> from) noexcept : scheduler_(from) {}
  environment get_env() const noexcept { return {scheduler_}; }
  template <class Receiver>
  schedule_operation<Words, Receiver> connect(Receiver to) const noexcept {
    return schedule_operation<Words, Receiver>(*scheduler_.home_, std::move(to));
  }

 private:
  basic_task_scheduler<Words> scheduler_;
};

}  // namespace detail

/// Returns the scheduler of a runtime. Any thread.
inline task_scheduler get_scheduler(runtime& workers) {
  return task_scheduler(detail::executor_of(workers));
}
/// Returns the scheduler of the runtime that runs here. Throws usage_error if there is none.
inline task_scheduler get_scheduler() {
  return task_scheduler(detail::require_executor("get_scheduler"));
}

/// Returns a sender of the future's result or exception, to be connected once. Consumes the future.
/// Its operation completes at once if the result is there when it is started, and else as co_await
/// goes on: as a task of the runtime that it was started in, or, outside of one, on the thread that
/// made the future ready. A stop request ends it only if it came before the start.
template <class T>
detail::future_sender<detail::own_words, T> as_sender(future<T> from) {
  return detail::future_sender<detail::own_words, T>(std::move(from));
}

/// Connects and starts a sender; returns a future of what it sends: nothing, a value, or a tuple of
/// several. Errors become exceptions; a sender that is stopped gives creek::cancelled. `stop` is
/// the token that the sender sees. Makes one allocation. Any thread, if the sender may be started
/// there; as_future(sender).get() waits for a sender.
template <execution::sender Sender>
auto as_future(Sender&& from, std::stop_token stop = {}) {
  return detail::start_sender<detail::own_words, Sender>(std::forward<Sender>(from),
                                                         std::move(stop));
}

}  // namespace creek
