// SPDX-License-Identifier: Apache-2.0
// Calls on a worker: their closures, and those whose result the caller waits for.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <creek/core/core_id.hpp>
#include <creek/tasking/detail/closure_message.hpp>
#include <creek/tasking/future.hpp>

namespace creek::detail {

/// Type of a result that is moved back to the caller.
template <class Returned>
struct returned_result {
  static_assert(
      std::is_void_v<Returned> || std::is_constructible_v<std::decay_t<Returned>, Returned>,
      "what a remote call returns is moved to the caller: it must be movable, and copyable if it "
      "is returned by reference");
  using type = std::decay_t<Returned>;
};

template <class F, class T, class... Arguments>
using remote_result_t = typename returned_result<
    std::invoke_result_t<std::decay_t<F>&, T&, std::decay_t<Arguments>...>>::type;
template <class F, class... Arguments>
using worker_result_t = typename returned_result<
    std::invoke_result_t<std::decay_t<F>&, std::decay_t<Arguments>...>>::type;

// The requirements below are classes so that a compiler checks them, and prints their sentence,
// before it looks at the rest of the function that names them.

template <class... Arguments>
struct argument_requirements {
  static_assert((std::is_move_constructible_v<std::decay_t<Arguments>> && ...),
                "an argument of a remote call is moved to the object's worker: it must have a move "
                "or copy constructor; pass a remote<T> or a pointer to what cannot be moved");
  static constexpr bool met = true;
};

template <class T, class F, class... Arguments>
struct remote_call_requirements : argument_requirements<F, Arguments...> {
  static_assert(std::is_invocable_v<std::decay_t<F>&, T&, std::decay_t<Arguments>...>,
                "f of a remote<T> call must be a method of T, or accept T& first, and copies of "
                "the arguments, as rvalues");
};

template <class F, class... Arguments>
struct worker_call_requirements : argument_requirements<F, Arguments...> {
  static_assert(std::is_invocable_v<std::decay_t<F>&, std::decay_t<Arguments>...>,
                "call_on, async_on and post_on call f(arguments...) with copies, as rvalues: f "
                "must accept them");
};

/// Returns the call as a closure of an object; trivially copyable if all that it captures is.
template <class T, class F, class... Arguments>
auto bind_call(F&& f, Arguments&&... arguments) {
  return [f = std::decay_t<F>(std::forward<F>(f)),
          ... arguments = std::decay_t<Arguments>(std::forward<Arguments>(arguments))](
             void* object) mutable -> decltype(auto) {
    if constexpr (std::is_void_v<T>) {
      return std::invoke(f, std::move(arguments)...);
    } else {
      return std::invoke(f, *static_cast<T*>(object), std::move(arguments)...);
    }
  };
}

const activation* current_activation() noexcept;
/// Returns the worker. Throws usage_error if `home` has no such worker, or is a parent process's.
unsigned checked_worker(const executor& home, core_id core, const char* what);

/// Sends a call and waits for its result.
template <class R, class F>
R call_closure(executor& home, unsigned worker, remote_cell* object, F&& closure) {
  awaited_reply<R> outcome;
  outcome.asked_by = current_executor() == &home ? home.worker_index() : -1;
  outcome.object = number_of(object);
  outcome.chain = current_activation();
  closure_message<std::decay_t<F>, awaited_reply<R>>::send(home, worker, object, std::move(closure),
                                                           &outcome);
  return outcome.take();
}

template <class R, class F>
future<R> async_closure(executor& home, unsigned worker, remote_cell* object, F&& closure) {
  auto* outcome = new future_reply<R>;
  state_ptr<future_state<R>> owned(outcome);
  state_ptr<future_state<R>> of_call(outcome);  // if sending throws
  outcome->asked_by = current_executor() == &home ? home.worker_index() : -1;
  outcome->object = number_of(object);
  closure_message<std::decay_t<F>, future_reply<R>>::send(home, worker, object, std::move(closure),
                                                          outcome);
  of_call.disown();
  return future<R>(std::move(owned));
}

/// Takes the answer to async_closure() if it is there; otherwise gives the call up.
template <class R>
auto take_or_give_up(future<R>&& answer, bool is_there) {
  using result = std::conditional_t<std::is_void_v<R>, bool, std::optional<R>>;
  if (!is_there) {
    static_cast<future_reply<R>*>(answer.state())->give_up();
    answer.detach();
    return result{};
  }
  if constexpr (std::is_void_v<R>) {
    answer.get();
    return true;
  } else {
    return result(answer.get());
  }
}

}  // namespace creek::detail
