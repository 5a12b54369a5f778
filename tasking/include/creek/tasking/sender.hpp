// SPDX-License-Identifier: Apache-2.0
// Schedulers, senders and receivers in the shape of P2300 (std::execution): a scheduler whose
// senders complete on the workers of a runtime, and ways from futures to senders and back. Needs no
// other library. <creek/tasking/stdexec.hpp> has the same for the algorithms of stdexec.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/tasking/future.hpp>
#include <creek/tasking/runtime.hpp>

namespace creek {

/// The words of P2300 for programs without a library of senders. Everything is a member, as in
/// P2300R10: scheduler.schedule(), sender.connect(receiver), operation.start(),
/// receiver.set_value(values...), set_error(error), set_stopped(), get_env().query(...).
namespace execution {

// A type is a sender if its `sender_concept` is, or is derived from, this; and so on.
struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};
struct scheduler_tag {};

// Names of completions, in signatures such as set_value_t(int).
struct set_value_t {};
struct set_error_t {};
struct set_stopped_t {};
template <class... Signatures>
struct completion_signatures {};

// Names of queries.
struct get_stop_token_t {};
template <class Completion>
struct get_completion_scheduler_t {};

template <class O>
concept operation_state = std::destructible<O> && requires(O& operation) {
  requires std::derived_from<typename O::operation_state_concept, operation_state_tag>;
  { operation.start() }
  noexcept->std::same_as<void>;
};
template <class S>
concept sender = std::move_constructible<std::remove_cvref_t<S>> && requires {
  requires std::derived_from<typename std::remove_cvref_t<S>::sender_concept, sender_tag>;
  typename std::remove_cvref_t<S>::completion_signatures;
};
template <class R>
concept receiver = std::is_nothrow_move_constructible_v<std::remove_cvref_t<R>> && requires {
  requires std::derived_from<typename std::remove_cvref_t<R>::receiver_concept, receiver_tag>;
};
/// Checks that the sender and the receiver make an operation.
template <class S, class R>
concept sender_to = sender<S> && receiver<R> && requires(S&& from, R&& to) {
  { std::forward<S>(from).connect(std::forward<R>(to)) } -> operation_state;
};
template <class S>
concept scheduler = std::equality_comparable<S> && std::is_nothrow_copy_constructible_v<S> &&
    std::is_nothrow_move_constructible_v<S> && requires(const S& from) {
  requires std::derived_from<typename S::scheduler_concept, scheduler_tag>;
  { from.schedule() } -> sender;
};

}  // namespace execution

namespace detail {

template <class... T>
struct type_list {};

/// The words above, for the templates below. <creek/tasking/stdexec.hpp> has another set.
struct own_words {
  using sender_tag = execution::sender_tag;
  using receiver_tag = execution::receiver_tag;
  using operation_state_tag = execution::operation_state_tag;
  using scheduler_tag = execution::scheduler_tag;
  using set_value_t = execution::set_value_t;
  using set_error_t = execution::set_error_t;
  using set_stopped_t = execution::set_stopped_t;
  template <class... Signatures>
  using completion_signatures = execution::completion_signatures<Signatures...>;
  using get_stop_token_t = execution::get_stop_token_t;
  template <class Completion>
  using get_completion_scheduler_t = execution::get_completion_scheduler_t<Completion>;

  template <class... Signatures>
  static type_list<Signatures...> listed(completion_signatures<Signatures...>*);
  /// Signatures of what `S` sends to a receiver with the environment `Environment`.
  template <class S, class Environment>
  using signatures_of =
      decltype(listed(static_cast<typename std::decay_t<S>::completion_signatures*>(nullptr)));

  template <class S, class R>
  static auto connect(S&& from, R to) {
    static_assert(
        execution::sender_to<S, R>,
        "the sender must have a member connect(receiver) that returns an operation state");
    return std::forward<S>(from).connect(std::move(to));
  }
};

/// Returns whether a stop is requested by the token in the receiver's environment, if it has one.
template <class Words, class Receiver>
bool stop_requested_of(const Receiver& to) noexcept {
  using query = typename Words::get_stop_token_t;
  if constexpr (requires { to.get_env().query(query{}); }) {
    return to.get_env().query(query{}).stop_requested();
  } else {
    return false;
  }
}

/// Base of an operation that completes in a task. Operation::complete() and Operation::fail(why)
/// complete it, after which it may be gone.
template <class Operation>
class task_operation : public submitted_task {
 public:
  task_operation(const task_operation&) = delete;
  task_operation& operator=(const task_operation&) = delete;

 protected:
  task_operation() noexcept {
    submitted_task::run = [](submitted_task* self) noexcept { complete_as_task(self_of(self)); };
    submitted_task::give_up = [](submitted_task* self, std::exception_ptr why) noexcept {
      self_of(self).fail(std::move(why));
    };
  }
  ~task_operation() = default;

  /// Makes the completion a task of `home`. The operation may be gone when this returns.
  void submit_to(executor& home) noexcept {
    // The simulated chip keeps a task that comes from outside until it has ended, while an
    // operation may be gone once it has completed.
    if (home.bookkeeping() == nullptr || current_executor() == &home) {
      home.submit(this);
    } else if (auto* carried = new (std::nothrow) carrier(self_of(this))) {
      home.submit(carried);
    } else {
      self_of(this).fail(std::make_exception_ptr(std::bad_alloc()));
    }
  }

 private:
  /// A task that outlives its operation.
  struct carrier : submitted_task {
    explicit carrier(Operation& carried) noexcept : operation(&carried) {
      submitted_task::run = [](submitted_task* self) noexcept {
        auto* me = static_cast<carrier*>(self);
        complete_as_task(*std::exchange(me->operation, nullptr));
        delete me;
      };
      submitted_task::give_up = [](submitted_task* self, std::exception_ptr why) noexcept {
        Operation* const not_begun = static_cast<carrier*>(self)->operation;
        delete static_cast<carrier*>(self);
        if (not_begun != nullptr) not_begun->fail(std::move(why));
      };
    }
    Operation* operation;
  };

  static Operation& self_of(submitted_task* self) noexcept {
    return *static_cast<Operation*>(static_cast<task_operation*>(self));
  }
  /// Runs the completion as a strict task: the receiver may fork and spawn. Reports the exceptions
  /// of tasks that it spawned and did not wait for.
  static void complete_as_task(Operation& operation) noexcept {
    static constexpr task_type type{nullptr, task_name<Operation>()};
    const auto complete = [&operation]() noexcept { operation.complete(); };
    error_slot error;
    run_framed<ending::strict>(complete, current_stack, nullptr, &type, error);
    if (std::exception_ptr failure = error.take()) [[unlikely]] {
      future_state<void>(1).fail(std::move(failure));
    }
  }
};

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

/// Finds the runtime that the caller's tasks would be of, by asking a task of it.
inline executor& executor_of(runtime& workers) {
  return *workers.run([] { return current_executor(); });
}

}  // namespace detail

/// Returns the scheduler of a runtime. Any thread; runs a task.
inline task_scheduler get_scheduler(runtime& workers) {
  return task_scheduler(detail::executor_of(workers));
}
/// Returns the scheduler of the runtime that runs here. Throws usage_error if there is none.
inline task_scheduler get_scheduler() {
  return task_scheduler(detail::require_executor("get_scheduler"));
}

namespace detail {

template <class Words, class T, class Receiver>
class future_operation final : public task_operation<future_operation<Words, T, Receiver>>,
                               private ready_listener {
 public:
  using operation_state_concept = typename Words::operation_state_tag;

  future_operation(state_ptr<future_state<T>> state, Receiver&& to) noexcept
      : state_(std::move(state)), receiver_(std::move(to)) {
    ready_listener::notify = [](ready_listener* self) noexcept -> strand* {
      auto* me = static_cast<future_operation*>(self);
      if (me->home_ != nullptr) {
        me->submit_to(*me->home_);
      } else {
        me->complete();
      }
      return nullptr;
    };
  }
  void start() & noexcept {
    if (!state_->ready() && stop_requested_of<Words>(receiver_)) {
      std::move(receiver_).set_stopped();
      return;
    }
    home_ = current_executor();
    if (!state_->listen(this)) complete();
  }

 private:
  friend task_operation<future_operation>;
  void complete() noexcept {
    // The exception is passed on by moves, so it ends where it is handled.
    std::exception_ptr failure = state_->take_failure();
    std::optional<stored_t<T>> value;
    if (failure == nullptr) {
      try {
        value.emplace(state_->take());
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (failure != nullptr) return fail(std::move(failure));
    state_ = {};
    if constexpr (std::is_void_v<T>) {
      std::move(receiver_).set_value();
    } else {
      std::move(receiver_).set_value(std::move(*value));
    }
  }
  void fail(std::exception_ptr why) noexcept { std::move(receiver_).set_error(std::move(why)); }

  state_ptr<future_state<T>> state_;
  executor* home_ = nullptr;
  Receiver receiver_;
};

template <class Words, class T>
struct value_signature {
  using type = typename Words::set_value_t(T);
};
template <class Words>
struct value_signature<Words, void> {
  using type = typename Words::set_value_t();
};

/// A sender of a future's result; sends once.
template <class Words, class T>
class future_sender {
 public:
  using sender_concept = typename Words::sender_tag;
  using completion_signatures = typename Words::template completion_signatures<
      typename value_signature<Words, T>::type, typename Words::set_error_t(std::exception_ptr),
      typename Words::set_stopped_t()>;

  explicit future_sender(future<T>&& from) : state_(from.consume("as_sender")) {}
  template <class Receiver>
  future_operation<Words, T, Receiver> connect(Receiver to) && noexcept {
    return future_operation<Words, T, Receiver>(std::move(state_), std::move(to));
  }

 private:
  state_ptr<future_state<T>> state_;
};

/// The type that a future holds for the values that a sender sends.
template <class... Values>
struct future_value {
  using type = std::tuple<std::decay_t<Values>...>;
};
template <class Value>
struct future_value<Value> {
  using type = std::decay_t<Value>;
};
template <>
struct future_value<> {
  using type = void;
};

/// Finds the values in a sender's signatures.
template <class Words, class Signatures, class... Found>
struct sent_value;
template <class Words>
struct sent_value<Words, type_list<>> {
  using type = void;
};
template <class Words, class Value, class... Others>
struct sent_value<Words, type_list<>, Value, Others...> {
  static_assert(sizeof...(Others) == 0,
                "as_future: the sender sends values of several kinds, a future holds one kind");
  using type = Value;
};
template <class Words, class First, class... Rest, class... Found>
struct sent_value<Words, type_list<First, Rest...>, Found...>
    : sent_value<Words, type_list<Rest...>, Found...> {};
template <class Words, class Completion, class... Values, class... Rest, class... Found>
requires(std::same_as<Completion, typename Words::set_value_t>)  //
    struct sent_value<Words, type_list<Completion(Values...), Rest...>, Found...>
    : sent_value<Words, type_list<Rest...>, Found..., typename future_value<Values...>::type> {
};

/// The environment of as_future()'s receiver.
template <class Words>
struct stop_environment {
  std::stop_token stop;
  std::stop_token query(typename Words::get_stop_token_t) const noexcept { return stop; }
};

template <class Words, class Sender>
using sent_value_t = typename sent_value<
    Words, typename Words::template signatures_of<Sender, stop_environment<Words>>>::type;

/// A future's state that holds the operation which makes it ready.
template <class Words, class Sender>
class sender_state final : public future_state<sent_value_t<Words, Sender>> {
  struct receiver {
    using receiver_concept = typename Words::receiver_tag;
    template <class... Values>
    void set_value(Values&&... values) && noexcept {
      sender_state* const target = state;
      try {
        target->emplace(std::forward<Values>(values)...);
      } catch (...) {
        target->fail(std::current_exception());
      }
      target->finish();
    }
    template <class Error>
    void set_error(Error&& error) && noexcept {
      sender_state* const target = state;
      using type = std::decay_t<Error>;
      if constexpr (std::same_as<type, std::exception_ptr>) {
        target->fail(std::forward<Error>(error));
      } else if constexpr (std::same_as<type, std::error_code>) {
        target->fail(std::make_exception_ptr(std::system_error(error)));
      } else {
        target->fail(std::make_exception_ptr(std::forward<Error>(error)));
      }
      target->finish();
    }
    void set_stopped() && noexcept {
      sender_state* const target = state;
      target->fail(std::make_exception_ptr(cancelled("as_future: the sender was stopped")));
      target->drop_silently();
      target->finish();
    }
    stop_environment<Words> get_env() const noexcept { return {state->stop_}; }

    sender_state* state;
  };
  using operation = decltype(Words::connect(std::declval<Sender>(), std::declval<receiver>()));

 public:
  sender_state(Sender&& from, std::stop_token stop)
      : future_state<sent_value_t<Words, Sender>>(2), stop_(std::move(stop)) {
    ::new (static_cast<void*>(memory_))
        operation(Words::connect(std::forward<Sender>(from), receiver{this}));
  }
  void start() noexcept { running().start(); }

 private:
  operation& running() noexcept { return *std::launder(reinterpret_cast<operation*>(memory_)); }
  /// Ends the operation, whose captures may belong to the waiter, and then the wait.
  void finish() noexcept {
    std::destroy_at(&running());
    this->publish_and_resume();
    this->release();
  }

  std::stop_token stop_;
  alignas(operation) std::byte memory_[sizeof(operation)];
};

template <class Words, class Sender>
future<sent_value_t<Words, Sender>> start_sender(Sender&& from, std::stop_token stop) {
  using result = sent_value_t<Words, Sender>;
  auto* state = new sender_state<Words, Sender>(std::forward<Sender>(from), std::move(stop));
  future<result> ready_later(state_ptr<future_state<result>>{state});
  state->start();
  return ready_later;
}

}  // namespace detail

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
