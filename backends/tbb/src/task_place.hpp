// SPDX-License-Identifier: Apache-2.0
// State of the task on a thread rather than of the thread: its scope and the exceptions that
// it handles. oneTBB carries neither along when a task continues on another thread.
#pragma once

#include <creek/tasking/ext/executor.hpp>

namespace creek::onetbb {

/// The C++ runtime's record of exceptions being handled; __cxa_eh_globals of [Itanium ABI].
struct exception_state {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

/// The bounds of a task on its stack: a fresh scope inside, the previous scope again after.
class task_visit {
 public:
  /// `outermost`: no task of ours lies below on this stack, whatever the thread says.
  task_visit(ext::executor& home, bool outermost) noexcept;
  ~task_visit();
  task_visit(const task_visit&) = delete;
  task_visit& operator=(const task_visit&) = delete;

 private:
  ext::executor* below_home_;
  ext::task_scope* below_scope_;
  ext::task_scope scope_;
};

/// Covers the time in which oneTBB has a task's stack and may give it to another thread: puts scope
/// and exceptions back in place where the task continues.
class task_absence {
 public:
  enum class stack : unsigned char {
    left,   ///< the thread goes on with other stacks, and has no task until one of them sets it
    waits,  ///< oneTBB's loop runs on top of the task; see is_on_top()
  };
  explicit task_absence(stack how) noexcept;
  ~task_absence();
  task_absence(const task_absence&) = delete;
  task_absence& operator=(const task_absence&) = delete;

 private:
  ext::executor* home_;
  ext::task_scope* scope_;
  exception_state exceptions_;
};

/// Returns true in oneTBB's loop on top of a task of `home` that waits. Now and then also where
/// such a wait ended on another thread: never rely on it for more than passing a task on.
bool is_on_top(const ext::executor& home) noexcept;

}  // namespace creek::onetbb
