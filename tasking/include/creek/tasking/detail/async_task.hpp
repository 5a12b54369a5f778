// SPDX-License-Identifier: Apache-2.0
// The task behind async() and then(): a future state that carries its closure. It runs on the first
// strand that claims it: a worker that finds its slot, or the waiter.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <creek/tasking/detail/future_state.hpp>
#include <creek/tasking/detail/task_name.hpp>
#include <creek/tasking/spawn.hpp>

namespace creek {
template <class T>
class future;
}

namespace creek::detail {

/// The part that does not depend on the closure: claiming, scheduling.
template <class T>
class deferred_state : public future_state<T>, public submitted_task {
 public:
  explicit deferred_state(int references) noexcept : future_state<T>(references) {
    submitted_task::run = [](submitted_task* self) noexcept {
      auto* state = static_cast<deferred_state*>(self);
      if (strand* next = state->run_if_first()) next->home->resume(next);
      state->release();
    };
    submitted_task::give_up = [](submitted_task* self, std::exception_ptr why) noexcept {
      auto* state = static_cast<deferred_state*>(self);
      state->fail(std::move(why));
      state->publish_and_resume();
    };
  }
  /// Makes the task ready on the calling strand's deque, as one of `type`, or on `home`, which
  /// sees to its priority. Consumes one reference.
  void schedule(executor* home, const task_type& type) noexcept {
    task_stack* stack = current_stack;
    if (stack == nullptr || stack->home() != home || submitted_task::level != priority::normal) {
      task_bookkeeping* const books = home->bookkeeping();
      submitted_task::name = type.name;
      const bool needs_place = books != nullptr && current_executor() == home;
      if (needs_place) place_ = books->reserve_result();
      if (needs_place && place_ == nullptr) {
        submitted_task::run(this);
      } else {
        home->submit(this);
      }
      return;
    }
    task_slot* slot = stack->slot_to_spawn();
    if (slot == nullptr) [[unlikely]] {
      submitted_task::name = type.name;
      return home->submit(this);
    }
    ::new (static_cast<void*>(slot->closure)) deferred_state*(this);
    stack->push(slot, &type, task_slot::spawned_bit);
  }

 protected:
  virtual void execute() noexcept = 0;
  state_producer made_by_task(const char* name) const noexcept {
    return {.task = name, .claim = claim_.load(std::memory_order_relaxed)};
  }

 private:
  strand* run_if_first() noexcept {
    // Acquire: a claim by the waiter's help() happened after the closure was written anyway; the
    // exchange only decides who runs. The claim of the first stays, for reports.
    const auto claim = reinterpret_cast<std::uintptr_t>(current_stack) | 1;
    std::uintptr_t unclaimed = 0;
    if (!claim_.compare_exchange_strong(unclaimed, claim, std::memory_order_acq_rel))
      return nullptr;
    execute();
    if (place_ != nullptr) [[unlikely]]
      place_->stored();
    return this->publish();
  }
  void help() noexcept override {
    if (place_ != nullptr) [[unlikely]]
      place_->looked_at();
    if (strand* next = run_if_first()) next->home->resume(next);
  }
  static strand* run_slot(task_slot* slot, task_stack* here) noexcept {
    auto* state = *std::launder(reinterpret_cast<deferred_state**>(slot->closure));
    if (here == nullptr) slot->state.store(slot_state::moved, std::memory_order_release);
    strand* next = state->run_if_first();
    state->release();
    return next;
  }

 protected:
  /// The kind of the tasks with the closure F.
  template <class F>
  static constexpr task_type type_of{&run_slot, task_name<F>()};

 private:
  std::atomic<std::uintptr_t> claim_{0};  ///< see state_producer
  std::unique_ptr<result_place> place_;
};

/// Runs `function` as a strict task (all that it spawns ends with it) into `state`.
template <class T, class F>
void execute_into(future_state<T>& state, F& function) noexcept {
  static constexpr task_type type{nullptr, task_name<F>()};
  error_slot error;
  auto body = [&] { store_outcome(state, function); };
  run_framed<ending::strict>(body, current_stack, nullptr, &type, error);
  if (std::exception_ptr failure = error.take(); failure && !state.failure()) {
    state.fail(std::move(failure));
  }
}

/// Checks that a future can hold what a function returns.
template <class Returned>
struct storable_requirements {
  static_assert(std::is_void_v<Returned> ||
                    std::is_constructible_v<std::decay_t<Returned>, Returned>,
                "a future holds what its task returns: it must be movable, and copyable if it is "
                "returned by reference");
  static constexpr bool met = true;
};

template <class F>
using async_result_t = std::decay_t<std::invoke_result_t<F&&>>;

template <class F>
class async_state final : public deferred_state<async_result_t<F>> {
 public:
  explicit async_state(F&& function)
      : deferred_state<async_result_t<F>>(2), function_(std::move(function)) {}
  void start(executor& home, priority level = priority::normal) noexcept {
    submitted_task::level = level;
    this->schedule(&home, async_state::template type_of<F>);
  }

 private:
  void execute() noexcept override {
    auto once = [this]() -> decltype(auto) { return std::invoke(std::move(*function_)); };
    execute_into(*this, once);
    function_.reset();  // captures end with the task, not with the last reference to the result
  }
  state_producer made_by() const noexcept override { return this->made_by_task(task_name<F>()); }
  std::optional<F> function_;
};

/// Returns f(arguments...) as a closure that holds copies of both.
template <class F, class... Arguments>
auto bind_task(F&& f, Arguments&&... arguments) {
  static_assert(std::is_invocable_v<std::decay_t<F>, std::decay_t<Arguments>...>,
                "async calls the function with copies of the arguments, as rvalues: it must accept "
                "them; pass std::ref(x) to a function that takes a reference");
  static_assert(std::is_constructible_v<std::decay_t<F>, F> &&
                    (std::is_constructible_v<std::decay_t<Arguments>, Arguments> && ...),
                "async stores the function and its arguments: pass what cannot be copied by "
                "std::move");
  if constexpr (sizeof...(Arguments) == 0) {
    return std::decay_t<F>(std::forward<F>(f));
  } else {
    return [f = std::decay_t<F>(std::forward<F>(f)),
            arguments = std::tuple<std::decay_t<Arguments>...>(
                std::forward<Arguments>(arguments)...)]() mutable -> decltype(auto) {
      return std::apply(std::move(f), std::move(arguments));
    };
  }
}

template <class F>
future<async_result_t<F>> start_async(executor& home, priority level, F function) {
  using result = async_result_t<F>;
  static_assert(storable_requirements<std::invoke_result_t<F&&>>::met);
  auto* state = new async_state<F>(std::move(function));
  state_ptr<future_state<result>> owned(state);
  state->start(home, level);
  return future<result>(std::move(owned));
}

template <class T, class F>
struct continuation_result {
  using type = std::invoke_result_t<F&&, T>;
};
template <class F>
struct continuation_result<void, F> {
  using type = std::invoke_result_t<F&&>;
};

/// Runs when `source` is ready, as a task of the runtime that then() was called in, or else on the
/// thread that made the source ready.
template <class T, class F>
class continuation_state final
    : public deferred_state<std::decay_t<typename continuation_result<T, F>::type>>,
      public ready_listener {
 public:
  using result = std::decay_t<typename continuation_result<T, F>::type>;

  continuation_state(state_ptr<future_state<T>> source, F&& function)
      : deferred_state<result>(2),
        source_(std::move(source)),
        function_(std::move(function)),
        home_(current_executor()) {
    ready_listener::notify = [](ready_listener* self) noexcept -> strand* {
      static_cast<continuation_state*>(self)->start();
      return nullptr;
    };
  }
  void attach() noexcept {
    if (!source_->listen(this)) start();
  }

 private:
  void start() noexcept {
    if (home_ != nullptr) {
      this->schedule(home_, continuation_state::template type_of<F>);
    } else {
      submitted_task::run(this);
    }
  }
  void execute() noexcept override {
    auto once = [this]() -> decltype(auto) {
      if constexpr (std::is_void_v<T>) {
        source_->take();
        return std::invoke(std::move(*function_));
      } else {
        return std::invoke(std::move(*function_), source_->take());
      }
    };
    if (home_ != nullptr) {
      execute_into(*this, once);
    } else {
      store_outcome(*this, once);
    }
    function_.reset();
    source_ = {};
  }
  state_producer made_by() const noexcept override { return this->made_by_task(task_name<F>()); }
  /// Does nothing: only the source decides when this may run.
  void help() noexcept override {}

  state_ptr<future_state<T>> source_;
  std::optional<F> function_;
  executor* home_;
};

template <class T, class F>
auto attach_continuation(state_ptr<future_state<T>> source, F&& f) {
  using closure = std::decay_t<F>;
  if constexpr (std::is_void_v<T>) {
    static_assert(std::is_invocable_v<closure>,
                  "the function of future<void>::then is called without arguments");
  } else {
    static_assert(std::is_invocable_v<closure, T>,
                  "the function of future<T>::then must accept a T");
  }
  static_assert(storable_requirements<typename continuation_result<T, closure>::type>::met);
  using state_type = continuation_state<T, closure>;
  using result = typename state_type::result;
  auto* state = new state_type(std::move(source), closure(std::forward<F>(f)));
  state_ptr<future_state<result>> owned(state);
  state->attach();
  return future<result>(std::move(owned));
}

}  // namespace creek::detail
