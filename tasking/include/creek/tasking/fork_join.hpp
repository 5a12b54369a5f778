// SPDX-License-Identifier: Apache-2.0
// fork_join: runs functions that may run at the same time and returns all their results. The
// cheapest way to make tasks: the closures stay in the caller's frame and, unless a thief comes, a
// fork costs a few plain stores.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <creek/tasking/detail/task_name.hpp>
#include <creek/tasking/ext/task_stack.hpp>

namespace creek {

namespace detail {

template <class F>
struct branch_result {
  static_assert(std::is_invocable_v<F&>,
                "a function given to fork_join or run is called without arguments");
  using returned = std::invoke_result_t<F&>;
  using type =
      std::conditional_t<std::is_void_v<returned>, std::monostate, std::remove_cvref_t<returned>>;
  static_assert(std::is_void_v<returned> || std::is_constructible_v<type, returned>,
                "fork_join and run store what a function returns: it must be movable, and copyable "
                "if it is returned by reference");
};

}  // namespace detail

/// Result of a branch: its decayed return type, monostate for void.
template <class F>
using branch_result_t = typename detail::branch_result<F>::type;

namespace detail {

template <class F>
branch_result_t<F> invoke_branch(F& function) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    std::invoke(function);
    return {};
  } else {
    return std::invoke(function);
  }
}

/// The stealable branch. The slot points to the closure in the frame of its maker, which always
/// joins it; a thief leaves the result in the slot, or on the heap if it does not fit there.
template <class G>
struct fork_task {
  using result_type = branch_result_t<G>;
  static constexpr bool fits = sizeof(result_type) <= task_slot::closure_size &&
                               alignof(result_type) <= 16 &&
                               std::is_nothrow_move_constructible_v<result_type>;
  using stored_type = std::conditional_t<fits, result_type, std::unique_ptr<result_type>>;

  static strand* run(task_slot* slot, task_stack*) noexcept {
    auto& function = *reinterpret_cast<G*>(slot->owner);
    try {
      if constexpr (fits) {
        ::new (static_cast<void*>(slot->closure)) stored_type(invoke_branch(function));
      } else {
        auto value = std::unique_ptr<result_type>(new result_type(invoke_branch(function)));
        ::new (static_cast<void*>(slot->closure)) stored_type(std::move(value));
      }
    } catch (...) {
      fail_fork(slot, std::current_exception());
    }
    return nullptr;
  }
  /// Returns the thief's result or throws its exception. Call it after the join returned `done`.
  [[gnu::noinline]] static result_type take(task_slot* slot) {
    if (std::exception_ptr failure = take_failure(slot)) {
      std::rethrow_exception(std::move(failure));
    }
    auto* stored = std::launder(reinterpret_cast<stored_type*>(slot->closure));
    stored_type value = std::move(*stored);
    std::destroy_at(stored);
    if constexpr (fits) {
      return value;
    } else {
      return std::move(*value);
    }
  }
  /// Like take(), but drops the result, as another exception is already on its way.
  static void drop(task_slot* slot) noexcept {
    if (!take_failure(slot)) {
      std::destroy_at(std::launder(reinterpret_cast<stored_type*>(slot->closure)));
    }
  }

  static constexpr task_type type{&run, task_name<G>()};
};

/// Runs the second branch after the first threw; the second's own exception is lost.
template <class G>
[[gnu::cold, gnu::noinline]] void finish_fork(task_stack* stack, task_slot* slot, G& g) noexcept {
  if (stack->join(slot) == join_result::done) {
    fork_task<G>::drop(slot);
    return;
  }
  try {
    invoke_branch(g);
  } catch (...) {  // the first branch's exception is reported
  }
}

/// Type by which the branch that runs here is passed on: small temporaries by value, so that the
/// compiler can keep the closure in registers; others by reference.
template <class F>
using branch_argument =
    std::conditional_t<!std::is_reference_v<F> && std::is_trivially_copyable_v<F> &&
                           sizeof(F) <= 4 * sizeof(void*),
                       std::remove_reference_t<F>, std::remove_reference_t<F>&>;

/// Runs both branches one after the other, for a full deque.
template <class F, class G>
[[gnu::cold, gnu::noinline]] std::pair<branch_result_t<F>, branch_result_t<G>> run_both(
    branch_argument<F> f, std::remove_reference_t<G>& g) {
  auto first = [&] {
    try {
      return invoke_branch(f);
    } catch (...) {
      try {
        invoke_branch(g);
      } catch (...) {  // the first branch's exception is reported
      }
      throw;
    }
  }();
  return {std::move(first), invoke_branch(g)};
}

/// Runs a branch on a backend without task stacks: as part of its maker's task if that is the one
/// that runs, else as a task of its own, like a stolen branch.
template <class F>
struct foreign_branch {
  F& function;
  const task_scope* maker = current_scope();
  std::optional<branch_result_t<F>> result = {};
  std::exception_ptr failure = {};

  static void run(void* self) noexcept {
    auto& branch = *static_cast<foreign_branch*>(self);
    if (current_scope() == branch.maker) {
      call(self);
    } else if (std::exception_ptr left_behind = run_branch_as_task(&call, self);
               left_behind && !branch.failure) {
      branch.failure = std::move(left_behind);
    }
  }
  static void call(void* self) noexcept {
    auto& branch = *static_cast<foreign_branch*>(self);
    try {
      branch.result.emplace(invoke_branch(branch.function));
    } catch (...) {
      branch.failure = std::current_exception();
    }
  }
  branch_result_t<F> take() {
    if (failure) std::rethrow_exception(std::move(failure));
    return std::move(*result);
  }
};

template <class F, class G>
[[gnu::cold, gnu::noinline]] std::pair<branch_result_t<F>, branch_result_t<G>> fork_foreign(F& f,
                                                                                            G& g) {
  executor& home = require_executor("fork_join");
  foreign_branch<F> left{f};
  foreign_branch<G> right{g};
  home.fork(&foreign_branch<F>::run, &left, &foreign_branch<G>::run, &right);
  auto first = left.take();
  return {std::move(first), right.take()};
}

}  // namespace detail

namespace detail {

template <class F, class G>
[[gnu::always_inline]] inline std::pair<branch_result_t<F>, branch_result_t<G>> fork_here(
    task_stack* stack, branch_argument<F> f, G& g) {
  using task = fork_task<G>;
  task_slot* slot = stack->next_slot();
  if (!stack->push(slot, &task::type, reinterpret_cast<std::uintptr_t>(std::addressof(g))))
      [[unlikely]] {
    return run_both<F, G>(f, g);
  }
  auto first = [&]() -> branch_result_t<F> {
    try {
      return invoke_branch(f);
    } catch (...) {
      finish_fork(stack, slot, g);
      throw;
    }
  }();
  if (stack->join(slot) == join_result::run_inline) [[likely]] {
    return {std::move(first), invoke_branch(g)};
  }
  return {std::move(first), task::take(slot)};
}

}  // namespace detail

/// Runs `f` here and `g` here or on an idle worker; returns {f(), g()} when both have ended. A
/// void result becomes std::monostate. Throws usage_error outside of a runtime. If `f` throws,
/// `g` still ends first; then the exception is rethrown, `f`'s before `g`'s. Cost without a
/// thief: a few plain stores, no fence, no allocation. If the deque is full, both run here, on
/// the caller.
template <class F, class G>
std::pair<branch_result_t<F>, branch_result_t<G>> fork_join(F&& f, G&& g) {
  detail::task_stack* stack = detail::current_stack;
  if (stack == nullptr) [[unlikely]]
    return detail::fork_foreign<F, G>(f, g);
  return detail::fork_here<F, std::remove_reference_t<G>>(stack, f, g);
}

/// Like fork_join of two, for any number of functions: a balanced tree of forks. Returns a tuple.
template <class F, class G, class H, class... Rest>
auto fork_join(F&& f, G&& g, H&& h, Rest&&... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    auto tail = [&] { return fork_join(g, h); };
    auto [first, others] = fork_join(f, tail);
    return std::tuple_cat(std::tuple(std::move(first)),
                          std::tuple(std::move(others.first), std::move(others.second)));
  } else {
    auto head = [&] { return fork_join(f, g); };
    auto tail = [&] { return fork_join(h, rest...); };
    auto [first, others] = fork_join(head, tail);
    return std::tuple_cat(std::tuple(std::move(first.first), std::move(first.second)),
                          std::move(others));
  }
}

}  // namespace creek
