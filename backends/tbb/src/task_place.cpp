// SPDX-License-Identifier: Apache-2.0
// Scope and exceptions of the running task, per thread.
#include "task_place.hpp"

#include <cxxabi.h>

#include <utility>

#include <creek/tasking/ext/task_stack.hpp>

namespace creek::onetbb {

namespace {

/// Executor whose task waits below on this thread's stack; compared, never followed.
thread_local constinit const ext::executor* waiting_below = nullptr;

// The compiler takes __cxa_get_globals for a constant of the thread; a task changes threads in the
// middle of a function, so each use has to ask again.
[[gnu::noinline]] exception_state exchange_exceptions(exception_state next) noexcept {
  auto* here = reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
  return std::exchange(*here, next);
}

}  // namespace

task_visit::task_visit(ext::executor& home, bool outermost) noexcept
    : below_home_(outermost ? nullptr : ext::current_executor()),
      below_scope_(outermost ? nullptr : ext::current_scope()) {
  waiting_below = nullptr;
  ext::set_foreign_scope(&home, &scope_);
}

task_visit::~task_visit() {
  ext::set_foreign_scope(below_home_, below_scope_);
}

task_absence::task_absence(stack how) noexcept
    : home_(ext::current_executor()),
      scope_(ext::current_scope()),
      exceptions_(exchange_exceptions({})) {
  // The thread may leave for other stacks, or for good: it must not keep what dies with the task.
  ext::set_foreign_scope(nullptr, nullptr);
  waiting_below = how == stack::waits ? home_ : nullptr;
}

task_absence::~task_absence() {
  waiting_below = nullptr;
  exchange_exceptions(exceptions_);
  // A strand of the host backend (destroying a runtime of this one) has its scope elsewhere.
  if (ext::current_stack == nullptr) ext::set_foreign_scope(home_, scope_);
}

bool is_on_top(const ext::executor& home) noexcept {
  return waiting_below == &home || ext::current_executor() == &home;
}

}  // namespace creek::onetbb
