// SPDX-License-Identifier: Apache-2.0
// fork_all: fork_join for a number of calls that is known only when the program runs, such as the
// children of a node of a tree.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <creek/tasking/fork_join.hpp>

namespace creek {

namespace detail {

/// One forked call. The slot holds the index; the callable stays in the frame of its maker.
template <class F>
struct fork_all_task {
  static strand* run(task_slot* slot, task_stack*) noexcept {
    std::size_t index = 0;
    std::memcpy(&index, slot->closure, sizeof index);
    try {
      std::invoke(*reinterpret_cast<F*>(slot->owner), index);
    } catch (...) {
      fail_fork(slot, std::current_exception());
    }
    return nullptr;
  }
  static constexpr task_type type{&run, task_name<F>()};
};

/// Forks `f(last - 1)` to `f(first + 1)`, in this order, as long as there is room. Returns the
/// lowest index that was forked.
template <class F>
[[gnu::always_inline]] inline std::size_t fork_calls(task_stack* stack, std::size_t first,
                                                     std::size_t last, F& f) {
  const auto owner = reinterpret_cast<std::uintptr_t>(std::addressof(f));
  std::size_t index = last;
  for (; index > first + 1; --index) {
    const std::size_t next = index - 1;
    task_slot* const slot = stack->next_slot();
    std::memcpy(slot->closure, &next, sizeof next);
    if (!stack->push(slot, &fork_all_task<F>::type, owner)) break;
  }
  return index;
}

/// Runs f(first) to f(last - 1). The caller runs the first ones and joins the others from the
/// newest fork to the oldest, so without thieves the calls are made in the order of their indices.
template <class F>
void fork_flat(task_stack* stack, std::size_t first, std::size_t last, F& f) {
  task_slot* const oldest = stack->next_slot();
  const std::size_t forked = fork_calls(stack, first, last, f);
  std::exception_ptr failure;
  const auto call = [&](std::size_t index) {
    try {
      std::invoke(f, index);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  };
  std::size_t index = first;
  for (; index < forked; ++index) call(index);
  for (; index < last; ++index) {
    task_slot* const slot = oldest + (last - 1 - index);
    if (stack->join(slot) == join_result::run_inline) [[likely]] {
      call(index);
    } else if (std::exception_ptr thrown = take_failure(slot); thrown && !failure) {
      failure = std::move(thrown);
    }
  }
  if (failure) [[unlikely]]
    std::rethrow_exception(std::move(failure));
}

/// More calls than this are forked in halves first: a thief takes half of them at once, and the
/// deque has room.
inline constexpr std::size_t max_flat_forks = 32;

template <class F>
void fork_range(std::size_t first, std::size_t last, F& f) {
  task_stack* const stack = current_stack;
  if (last - first == 1) {
    std::invoke(f, first);
  } else if (stack != nullptr && last - first <= max_flat_forks) [[likely]] {
    fork_flat(stack, first, last, f);
  } else {
    const std::size_t middle = first + (last - first) / 2;
    fork_join([&] { fork_range(first, middle, f); }, [&] { fork_range(middle, last, f); });
  }
}

}  // namespace detail

/// Calls f(0) to f(n - 1), each here or on an idle worker, and returns when all have ended; what
/// they return is dropped. Costs as much as n - 1 forks of fork_join: without a thief a few plain
/// stores each. `f` is shared by all calls and not copied. Throws usage_error outside of a runtime
/// if n > 1. If calls throw, all others still run, then the exception of the lowest index is
/// rethrown. For loops over many elements with little to do for each, parallel_for is cheaper: it
/// makes tasks only when a worker asks for them.
template <std::invocable<std::size_t> F>
void fork_all(std::size_t n, F&& f) {
  if (n != 0) detail::fork_range(0, n, f);
}

/// Like fork_all(N, f), but returns the results as an array.
template <std::size_t N, std::invocable<std::size_t> F>
auto fork_all(F&& f) {
  using result = std::remove_cvref_t<std::invoke_result_t<F&, std::size_t>>;
  static_assert(
      std::is_default_constructible_v<result> && std::is_move_assignable_v<result>,
      "fork_all<N> returns a std::array of results: they must be default-constructible "
      "and assignable; use fork_all(n, f) for others, and for functions without a result");
  std::array<result, N> results{};
  fork_all(N, [&](std::size_t index) { results[index] = std::invoke(f, index); });
  return results;
}

}  // namespace creek
