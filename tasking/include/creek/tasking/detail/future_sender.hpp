// SPDX-License-Identifier: Apache-2.0
// The ways between futures and senders: a sender of a future's result, and a future's state that
// holds the operation of a sender.
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
#include <creek/tasking/detail/task_operation.hpp>
#include <creek/tasking/execution.hpp>
#include <creek/tasking/future.hpp>

namespace creek::detail {

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

}  // namespace creek::detail
