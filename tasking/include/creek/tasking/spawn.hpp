// SPDX-License-Identifier: Apache-2.0
// spawn, taskwait, taskbarrier: tasks as OpenMP 3.0 has them. A child may outlive its parent.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <creek/tasking/detail/task_name.hpp>
#include <creek/tasking/ext/task_context.hpp>
#include <creek/tasking/ext/task_stack.hpp>

namespace creek {

namespace detail {

template <class F>
inline constexpr bool fits_slot = sizeof(F) <= task_slot::closure_size &&
                                  alignof(F) <= 16 && std::is_nothrow_move_constructible_v<F>;

/// A closure too large for a slot, or one whose move may throw.
template <class F>
struct boxed {
  std::unique_ptr<F> function;
  void operator()() { std::invoke(*function); }
};

/// Moment at which a task counts as ended.
enum class ending : std::uint8_t {
  early,     ///< with its function; tasks that it spawned may outlive it, under its root
  strict,    ///< when all that it spawned has ended as well
  unframed,  ///< with its function, which makes the frames of its tasks itself and does not throw
};

/// Runs `function` as a task on the strand with the stack `here`; exceptions go to `error`. `root`
/// is not used by strict tasks.
template <ending Ending, class F>
[[gnu::always_inline]] inline void run_framed(F& function, task_stack* here, root_scope* root,
                                              const task_type* type, error_slot& error) noexcept {
  task_frame frame(Ending == ending::early ? root : nullptr, type, here);
  const auto run = [&] {
    try {
      std::invoke(function);
    } catch (...) {
      error.store(std::current_exception());
    }
    frame.finish();
  };
  if constexpr (Ending == ending::early) {
    run();
  } else {
    lazy_root own(frame.scope());
    run();
    if (std::exception_ptr failure = own.wait_all()) error.store(std::move(failure));
  }
}

/// Runs one spawned closure as a child of `context`, whose count it leaves to the caller: a child
/// has ended when its closure is gone, since its captures may belong to the waiter.
template <ending Ending, class F>
[[gnu::always_inline]] inline void run_child(F& function, task_stack* here, task_context& context,
                                             const task_type* type) noexcept {
  if constexpr (Ending == ending::unframed) {
    function();
  } else if (!context.cancelled.load(std::memory_order_relaxed)) [[likely]] {
    run_framed<Ending>(function, here, context.root, type, context.error);
  }
}

/// A closure that was moved out of its slot.
template <class F>
struct taken_closure {
  explicit taken_closure(task_slot* slot) noexcept : function(std::move(stored_in(slot))) {
    std::destroy_at(&stored_in(slot));
  }
  static F& stored_in(task_slot* slot) noexcept {
    return *std::launder(reinterpret_cast<F*>(slot->closure));
  }
  F function;
};

/// Copies word by word: the closure often was written only just before, by stores as wide as its
/// members, and a wider load would wait until they have left the store buffer, some 12 cycles.
template <class F>
requires(std::is_trivially_copyable_v<F> &&
         sizeof(F) % sizeof(std::uint64_t) == 0) struct taken_closure<F> {
  explicit taken_closure(task_slot* slot) noexcept
      : taken_closure(slot, std::make_index_sequence<sizeof(F) / sizeof(std::uint64_t)>()) {}
  template <std::size_t... Index>
  [[gnu::always_inline]] taken_closure(task_slot* slot, std::index_sequence<Index...>) noexcept {
    const auto copy = [&](std::size_t at) {
      auto& word = reinterpret_cast<std::uint64_t*>(slot->closure)[at];
      const std::uint64_t value = std::atomic_ref(word).load(std::memory_order_relaxed);
      std::memcpy(memory + at * sizeof value, &value, sizeof value);
    };
    (copy(Index), ...);
  }
  union {
    F function;
    std::byte memory[sizeof(F)];
  };
};

template <ending Ending, class F>
struct spawned_task {
  static strand* run(task_slot* slot, task_stack* popped_by) noexcept;
  static constexpr task_type type{&run, task_name<F>()};
};

template <ending Ending, class F>
strand* spawned_task<Ending, F>::run(task_slot* slot, task_stack* popped_by) noexcept {
  auto& context = *reinterpret_cast<task_context*>(slot->owner & task_slot::owner_mask);
  {
    taken_closure<F> taken(slot);
    task_stack* here = popped_by;
    if (here == nullptr) [[unlikely]] {
      slot->state.store(slot_state::moved, std::memory_order_release);
      here = current_stack;
    }
    run_child<Ending>(taken.function, here, context, &type);
  }
  return context.ended(popped_by);
}

/// A spawned closure on a backend without task stacks.
template <ending Ending, class F>
struct submitted_child final : submitted_task {
  F function;
  task_context& context;

  submitted_child(F&& closure, task_context& counts)
      : submitted_task{.run = &run_this, .name = task_name<F>()},
        function(std::move(closure)),
        context(counts) {}
  static void run_this(submitted_task* self) noexcept {
    std::unique_ptr<submitted_child> child(static_cast<submitted_child*>(self));
    task_context& counts = child->context;
    run_child<Ending>(child->function, current_stack, counts, &spawned_task<Ending, F>::type);
    child.reset();
    // In the child of a fork() there is no executor any more.
    if (executor* home = current_executor(); home != nullptr && home->bookkeeping() != nullptr) {
      home->bookkeeping()->child_ended(counts);
    }
    strand* next = counts.ended(nullptr);
    if (next != nullptr) next->home->resume(next);
  }
};

/// Runs `function` at once, where there is no room for it as a task.
template <ending Ending, class F>
void run_at_once(task_context& context, F function) {
  context.started(nullptr);
  {
    F here(std::move(function));
    run_child<Ending>(here, current_stack, context, &spawned_task<Ending, F>::type);
  }
  if (strand* next = context.ended(nullptr)) next->home->resume(next);
}

/// Spawns on a strand without a task stack, or without room in it. Not inlined: spawn_into() is to
/// stay small. The closure comes by value: with its address taken, spawn_into() would copy it
/// through memory, 5 ns a task.
template <ending Ending, class F>
[[gnu::noinline]] void submit_child(task_context& context, F function,
                                    priority level = priority::normal) {
  executor& home = require_executor("spawn");
  task_bookkeeping* const books = home.bookkeeping();
  if (books != nullptr && !books->reserve_child(context)) {
    run_at_once<Ending>(context, std::move(function));
    return;
  }
  auto child = std::make_unique<submitted_child<Ending, F>>(std::move(function), context);
  child->level = level;
  context.started(nullptr);
  home.submit(child.release());
}

template <ending Ending, class F>
void spawn_into(task_context& context, F function) {
  task_stack* stack = current_stack;
  if (stack == nullptr) [[unlikely]] {
    submit_child<Ending>(context, std::move(function));
    return;
  }
  task_slot* slot = stack->slot_to_spawn();
  if (slot == nullptr) [[unlikely]] {
    submit_child<Ending>(context, std::move(function));
    return;
  }
  context.started(stack);
  ::new (static_cast<void*>(slot->closure)) F(std::move(function));
  stack->push(slot, &spawned_task<Ending, F>::type,
              reinterpret_cast<std::uintptr_t>(&context) | task_slot::spawned_bit);
}

/// Checks that a callable can be a task, which it is as a `closure`.
template <class F>
struct spawnable_requirements {
  using closure = std::decay_t<F>;
  static_assert(std::is_invocable_v<closure&>, "a task is called without arguments");
  static_assert(std::is_constructible_v<closure, F> && std::is_move_constructible_v<closure>,
                "a task is moved to where it runs: what it captures must be movable; pass a task "
                "that cannot be copied by std::move");
};

/// Spawns any callable: in the slot if it fits, else boxed.
template <ending Ending, class F>
void spawn_any(task_context& context, F&& f) {
  using closure = typename spawnable_requirements<F>::closure;
  if constexpr (fits_slot<closure>) {
    spawn_into<Ending>(context, closure(std::forward<F>(f)));
  } else {
    spawn_into<Ending>(context, boxed<closure>{std::make_unique<closure>(std::forward<F>(f))});
  }
}

/// Does the same with a priority.
template <ending Ending, class F>
void spawn_any(task_context& context, priority level, F&& f) {
  // In a child of fork() there are only the caller's own stack and its waits.
  if (level == priority::normal || require_executor("spawn").lost_in_fork())
    return spawn_any<Ending>(context, std::forward<F>(f));
  submit_child<Ending>(context, typename spawnable_requirements<F>::closure(std::forward<F>(f)),
                       level);
}

/// Returns the scope of the running task. Throws usage_error if there is none.
inline task_scope& require_scope(const char* what) {
  if (task_stack* stack = current_stack) [[likely]]
    return stack->scope();
  require_executor(what);
  return *current_scope();
}

}  // namespace detail

/// Makes `f` a task, a child of the running one, and returns. The callable is moved into the task:
/// up to 48 bytes in the deque itself, larger ones on the heap. Exceptions come out of the next
/// taskwait(), or of taskbarrier() or run() if there is no taskwait(). Throws usage_error outside
/// of a runtime. If the deque (scheduler_options::deque_capacity) is full, some of its tasks run on
/// another stack first, so hold no lock that they might take. Where deques are bounded on purpose
/// (the chip; on the host the deques for comparison), f runs here and now instead: it must not wait
/// for what its maker does later.
template <class F>
void spawn(F&& f) {
  detail::spawn_any<detail::ending::early>(detail::context_of(detail::require_scope("spawn")),
                                           std::forward<F>(f));
}

/// Does the same with a priority; throws std::bad_alloc if there is no memory for the task.
template <class F>
void spawn(priority level, F&& f) {
  detail::spawn_any<detail::ending::early>(detail::context_of(detail::require_scope("spawn")),
                                           level, std::forward<F>(f));
}

/// Waits until all direct children that the running task has spawned are done. Meanwhile runs them
/// on this stack while they are its newest tasks; all other tasks run on other stacks.
/// Rethrows the first exception of a child. Inside fork_join, branches count as part of the task
/// that called it.
inline void taskwait() {
  detail::task_context* context = detail::require_scope("taskwait").context;
  if (context == nullptr) return;
  context->wait();
  if (std::exception_ptr failure = context->error.take()) [[unlikely]] {
    std::rethrow_exception(std::move(failure));
  }
}

/// Waits for every task spawned since run() began, also those whose parents have ended. Only in the
/// task that run() started; elsewhere throws usage_error. Rethrows the first exception of a task
/// that was not waited for.
void taskbarrier();

}  // namespace creek
