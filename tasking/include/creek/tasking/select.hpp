// SPDX-License-Identifier: Apache-2.0
// Waiting for one of several channels, as Go's select does. docs/channels.md is the guide.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include <creek/tasking/channel.hpp>

namespace creek {

namespace detail {

/// A receive as a case: calls f(receive_result<T>) if it is chosen.
template <class T, class Form, class F>
struct receive_case {
  static constexpr channel_side side = channel_side::items;
  channel<T, Form>& from;
  F function;
  std::optional<receive_result<T>> result{};

  channel_base& used() const noexcept { return from; }
  bool attempt() {
    result.emplace(from.try_receive());
    return result->status() != channel_status::not_ready;
  }
  void run() { function(std::move(*result)); }
};

/// A send as a case: calls f(send_result) or f() if it is chosen. Value is T, or a reference to
/// one.
template <class T, class Form, class Value, class F>
struct send_case {
  static constexpr channel_side side = channel_side::room;
  channel<T, Form>& to;
  Value value;
  F function;
  send_result result{channel_status::not_ready};

  channel_base& used() const noexcept { return to; }
  bool attempt() {
    result = to.try_send(std::forward<Value>(value));
    return result.status() != channel_status::not_ready;
  }
  void run() {
    if constexpr (std::is_invocable_v<F&, send_result>) {
      function(result);
    } else {
      function();
    }
  }
};

struct selection {
  /// Returns the index of the chosen case, or its number of cases. Does not wait if `limits` is
  /// null.
  template <class... Cases>
  static std::size_t choose(const channel_limits* limits, Cases&... cases) {
    constexpr std::size_t count = sizeof...(Cases);
    std::size_t chosen = first_ready(cases...);
    if (chosen != count || limits == nullptr) return chosen;
    std::array<channel_waiter, count> waiters;
    std::size_t i = 0;
    ((waiters[i].channel = &cases.used(), waiters[i].side = Cases::side, ++i), ...);
    channel_wait wait(waiters.data(), count, *limits);
    while (wait.for_a_change() == channel_status::done) {
      chosen = first_ready(cases...);
      if (chosen == count) continue;
      wait.made(chosen);
      break;
    }
    return chosen;
  }

  /// Calls the function of the chosen case, outside of the wait.
  template <class... Cases>
  static std::optional<std::size_t> run(const channel_limits* limits, Cases&... cases) {
    static_assert(sizeof...(Cases) != 0, "select needs at least one case");
    const std::size_t chosen = choose(limits, cases...);
    std::size_t i = 0;
    ((i++ == chosen ? cases.run() : void()), ...);
    return chosen != sizeof...(Cases) ? std::optional(chosen) : std::nullopt;
  }

 private:
  template <class... Cases>
  static std::size_t first_ready(Cases&... cases) {
    std::size_t index = 0;
    (void)((cases.attempt() || (++index, false)) || ...);
    return index;
  }
};

template <class Case>
inline constexpr bool is_select_case = false;
template <class T, class Form, class F>
inline constexpr bool is_select_case<receive_case<T, Form, F>> = true;
template <class T, class Form, class Value, class F>
inline constexpr bool is_select_case<send_case<T, Form, Value, F>> = true;

}  // namespace detail

/// A case of a select: made by on_receive() or on_send().
template <class Case>
concept select_case = detail::is_select_case<Case>;

/// Returns a case that receives from `from` and calls f(receive_result<T>). It is also ready when
/// the channel is closed and empty: then the result has no item.
template <class T, class Form, std::invocable<receive_result<T>> F>
auto on_receive(channel<T, Form>& from, F f) {
  return detail::receive_case<T, Form, F>{from, std::move(f)};
}
/// Returns a case that sends an item made of `value` to `to` and calls f(send_result) or f(). It is
/// also ready when the channel is closed: then the result is false. A T is used where it is, and
/// moved from only if it was sent, so make the case in the call of select; of another value the
/// item is made with the case.
template <class T, class Form, class U, class F>
requires std::constructible_from<T, U> &&
    (std::invocable<F&, send_result> || std::invocable<F&>)auto on_send(channel<T, Form>& to,
                                                                        U&& value, F f) {
  using value_type = std::conditional_t<std::same_as<std::remove_cvref_t<U>, T>, U&&, T>;
  return detail::send_case<T, Form, value_type, F>{to, value_type(std::forward<U>(value)),
                                                   std::move(f)};
}

/// Waits until one of the cases is ready, makes its operation, and calls its function. Of several
/// ready cases the first is chosen, in the order of the arguments: put rare ones first. Returns the
/// index of the case. Rethrows the exception that a chosen channel was closed with.
template <select_case... Cases>
std::size_t select(Cases... cases) {
  const detail::channel_limits limits;
  return *detail::selection::run(&limits, cases...);
}
/// Does the same, but returns nothing if no case is ready now.
template <select_case... Cases>
std::optional<std::size_t> try_select(Cases... cases) {
  return detail::selection::run(nullptr, cases...);
}
/// Does the same, but returns nothing if no case has become ready within `span`: see send_for().
template <class Rep, class Period, select_case... Cases>
std::optional<std::size_t> select_for(const std::chrono::duration<Rep, Period>& span,
                                      Cases... cases) {
  const std::chrono::nanoseconds limit = detail::wait_span(span);
  const detail::channel_limits limits{&limit, nullptr};
  return detail::selection::run(&limits, cases...);
}
/// Does the same until `deadline`, by its clock: see send_until().
template <class Clock, class Duration, select_case... Cases>
std::optional<std::size_t> select_until(const std::chrono::time_point<Clock, Duration>& deadline,
                                        Cases... cases) {
  detail::require_clocks("select_until");
  std::optional<std::size_t> chosen = detail::selection::run(nullptr, cases...);
  if (chosen) return chosen;
  (void)detail::wait_until_deadline(deadline, [&](std::chrono::nanoseconds span) {
    const detail::channel_limits limits{&span, nullptr};
    chosen = detail::selection::run(&limits, cases...);
    return chosen.has_value();
  });
  return chosen;
}
/// Does the same, but returns nothing if a stop is requested before a case is ready.
template <select_case... Cases>
std::optional<std::size_t> select(const std::stop_token& stop, Cases... cases) {
  const detail::channel_limits limits{nullptr, &stop};
  return detail::selection::run(&limits, cases...);
}

}  // namespace creek
