// SPDX-License-Identifier: Apache-2.0
// The words of P2300 (std::execution): tags, names of completions and queries, concepts.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <creek/core/language.hpp>

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

}  // namespace detail

}  // namespace creek
