// SPDX-License-Identifier: Apache-2.0
// Counters of unfinished tasks: a context counts the children of a task or of a group, a root scope
// counts the contexts that a whole run() has left behind. Biased counting: the strand that owns a
// context counts with plain adds, all others with one atomic word.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/task_stack.hpp>

namespace creek::ext {

struct activation;

/// The first exception of several tasks. Any thread.
class error_slot {
 public:
  /// Keeps `failure` if it is the first.
  void store(std::exception_ptr failure) noexcept;
  /// Takes the stored exception; the caller knows that no thread stores any more.
  std::exception_ptr take() noexcept {
    return taken_.load(std::memory_order_relaxed) ? take_stored() : nullptr;
  }

 private:
  std::exception_ptr take_stored() noexcept;
  std::atomic<bool> taken_{false};
  std::exception_ptr failure_;
};

/// The tasks that ended before their children did, of one run() (or of one stolen branch).
struct root_scope {
  /// The invocation (remote.hpp) that runs here, or nullptr.
  const activation* call = nullptr;
  /// 2 * abandoned contexts, plus 1 while `waiter` waits.
  std::atomic<std::int64_t> live{0};
  strand* waiter = nullptr;
  error_slot error;

  /// Waits until every abandoned context is done. Returns the first exception of a task that
  /// was not waited for.
  std::exception_ptr wait_all() {
    if (live.load(std::memory_order_acquire) != 0) [[unlikely]]
      suspend_until_none();
    follow_others();
    sanitizer::acquired(&live);
    return error.take();
  }

 private:
  void suspend_until_none();
};

/// Counts tasks that can be waited for.
struct task_context {
  /// Strand that counts with `spawned` and `finished`; null: all use `balance`. Atomic only because
  /// others compare it while the owner, which may run tasks during its wait, sets it aside.
  std::atomic<task_stack*> owner{nullptr};
  bool owned_by(const task_stack* strand) const noexcept {
    return strand != nullptr && owner.load(std::memory_order_relaxed) == strand;
  }
  std::int64_t spawned = 0;
  std::int64_t finished = 0;
  /// 4 * (ends - starts counted by others than the owner), plus flags. The context is done when
  /// the count equals spawned - finished.
  std::atomic<std::int64_t> balance{0};
  static constexpr std::int64_t one = 4;
  static constexpr std::int64_t waiting = 1;  ///< `waiter` is to be resumed; plain counts folded in
  static constexpr std::int64_t abandoned = 2;  ///< the task has ended; the last child frees
  strand* waiter = nullptr;
  root_scope* root = nullptr;
  std::atomic<bool> cancelled{false};
  error_slot error;
  task_context* next_free = nullptr;

  [[gnu::always_inline]] void started(task_stack* here) noexcept {
    if (owned_by(here)) [[likely]] {
      ++spawned;
    } else {
      balance.fetch_sub(one, std::memory_order_relaxed);
    }
  }
  /// Counts one end; returns the strand to resume if the task was the last one awaited. `here` is
  /// the strand's stack if the task was not stolen, else null. The context may be gone afterwards.
  [[nodiscard, gnu::always_inline]] strand* ended(task_stack* here) noexcept {
    if (owned_by(here)) [[likely]] {
      ++finished;
      return nullptr;
    }
    return ended_elsewhere(here);
  }
  /// Returns whether all children ended. For the owner's strand; without an owner, any thread.
  bool done() const noexcept {
    if (balance.load(std::memory_order_acquire) != one * (spawned - finished)) return false;
    sanitizer::acquired(&balance);
    return true;
  }
  /// Runs children on this stack while they are the newest tasks, then suspends until all are done.
  /// Younger tasks of others are left to other stacks, with all that lies below them.
  void wait() {
    task_stack* const here = current_stack;
    const bool is_owner = owned_by(here);
    while (!done()) {
      if (is_owner && here->run_newest(here->scope().base, this)) continue;
      suspend_until_done();
      break;
    }
    follow_others();
  }

 private:
  strand* ended_elsewhere(const task_stack* here) noexcept;
  void suspend_until_done();
};

/// Makes the running task's context, at its first use.
task_context& make_context(task_scope& scope);
inline task_context& context_of(task_scope& scope) {
  return scope.context != nullptr ? *scope.context : make_context(scope);
}
/// A root scope that is made with the first context under it: most tasks make none.
class lazy_root {
 public:
  explicit lazy_root(task_scope& scope) noexcept : scope_(scope) { scope.root_memory = memory_; }
  lazy_root(const lazy_root&) = delete;
  lazy_root& operator=(const lazy_root&) = delete;
  /// Like root_scope::wait_all(), once the task has ended.
  std::exception_ptr wait_all() {
    if (scope_.root == nullptr) [[likely]]
      return nullptr;
    return wait_for_made();
  }

 private:
  std::exception_ptr wait_for_made();

  task_scope& scope_;
  alignas(root_scope) std::byte memory_[sizeof(root_scope)];
};

/// The bounds of a task on its strand: a fresh scope inside, the caller's scope again after.
class task_frame {
 public:
  task_frame(root_scope* root, const task_type* type, task_stack* here = current_stack) noexcept
      : stack_(here) {
    scope_.root = root;
    scope_.type = type;
    if (stack_ != nullptr) [[likely]] {
      scope_.base = stack_->next_slot();
      outer_ = stack_->record().running.enter(scope_);
    } else {
      outer_ = exchange_foreign_scope(&scope_);
    }
  }
  task_frame(const task_frame&) = delete;
  task_frame& operator=(const task_frame&) = delete;

  task_scope& scope() noexcept { return scope_; }
  /// Ends the task: children still running live on, its task-locals do not.
  void finish() noexcept {
    if (scope_.context != nullptr) abandon(scope_);
    if (scope_.locals != nullptr) destroy_locals(scope_);
    if (stack_ != nullptr) [[likely]] {
      stack_->record().running.leave(outer_);
    } else {
      exchange_foreign_scope(outer_);
    }
  }

 private:
  static void abandon(task_scope& scope) noexcept;
  static void destroy_locals(task_scope& scope) noexcept;

  task_stack* stack_;
  task_scope* outer_;
  task_scope scope_;
};

}  // namespace creek::ext
