// SPDX-License-Identifier: Apache-2.0
// Storage that follows the task instead of the thread, since a task may continue on another thread
// after a wait; and storage per worker, for sums that are combined afterwards.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/this_worker.hpp>

namespace creek {

namespace detail {

/// One task-local value; each task has a list of them, short in practice.
struct task_local_node {
  const void* key;
  task_local_node* next = nullptr;

  explicit task_local_node(const void* owner) : key(owner) {}
  virtual ~task_local_node() = default;
  static void destroy_all(task_local_node* list) noexcept {
    while (list != nullptr) delete std::exchange(list, list->next);
  }
};

}  // namespace detail

/// A variable that every task has its own copy of, made at its first use in the task and destroyed
/// when the task ends. A task is what run(), spawn(), task_group::spawn() or async() started; both
/// branches of a fork_join that no thief took belong to the caller's task, a stolen branch is a
/// task of its own. Use from a foreign thread is a usage_error.
template <class T>
class task_local {
 public:
  static_assert(std::is_copy_constructible_v<T>,
                "every task gets a copy of the initial value of a task_local: it must be copyable");

  task_local() = default;
  explicit task_local(T initial) : initial_(std::move(initial)) {}
  task_local(const task_local&) = delete;
  task_local& operator=(const task_local&) = delete;

  /// Returns the running task's copy. Cost: a walk over the task's locals. The reference is good
  /// until the task ends.
  T& get() const {
    detail::task_scope* scope = detail::current_scope();
    if (scope == nullptr) {
      throw usage_error("task_local: no task runs here; use it inside runtime::run()");
    }
    for (auto* node = scope->locals; node != nullptr; node = node->next) {
      if (node->key == this) return static_cast<value_node*>(node)->value;
    }
    auto* made = new value_node(this, initial_);
    made->next = scope->locals;
    scope->locals = made;
    return made->value;
  }
  T& operator*() const { return get(); }
  T* operator->() const { return &get(); }

 private:
  struct value_node final : detail::task_local_node {
    T value;
    value_node(const void* owner, const T& initial) : task_local_node(owner), value(initial) {}
  };
  T initial_{};
};

/// One value per worker, a cache line apart: count into local() from any task without a lock, then
/// combine() when all tasks are done. A task must not keep the reference across a wait.
template <class T>
class worker_local {
 public:
  static_assert(std::is_copy_constructible_v<T>,
                "every worker gets a copy of the initial value of a worker_local: it must be "
                "copyable");

  /// Makes values for the workers of the runtime that runs here; outside one, for a single worker.
  worker_local() : worker_local(T{}) {}
  explicit worker_local(const T& initial) : values_(worker_count(), padded{initial}) {}

  T& local() {
    const int worker = this_worker();
    const auto index = worker < 0 ? 0U : static_cast<unsigned>(worker);
    if (index >= values_.size()) {
      throw usage_error("worker_local: made for another runtime; make it inside this run()");
    }
    return values_[index].value;
  }
  /// Returns all values folded from the left by `fold(T, const T&)`. Not while tasks still write.
  template <class Fold>
  T combine(Fold fold) const {
    static_assert(std::is_invocable_r_v<T, Fold&, T, const T&>,
                  "worker_local::combine: fold(a, b) must accept two values and return one");
    T result = values_.front().value;
    for (std::size_t i = 1; i < values_.size(); ++i)
      result = fold(std::move(result), values_[i].value);
    return result;
  }
  template <class Visit>
  void for_each(Visit visit) {
    for (padded& entry : values_) visit(entry.value);
  }

 private:
  struct alignas(64) padded {
    T value;
  };
  std::vector<padded> values_;
};

}  // namespace creek
