// SPDX-License-Identifier: Apache-2.0
// Queries for where the caller runs.
#pragma once

#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/ext/task_stack.hpp>

namespace creek {

/// Returns the index of the calling worker in its runtime, 0 to worker_count() - 1; -1 on foreign
/// threads. May change across every fork_join, wait, get or co_await.
inline int this_worker() noexcept {
  detail::executor* home = detail::current_executor();
  return home == nullptr ? -1 : home->worker_index();
}

/// Returns the number of workers of the runtime that runs here; 1 on foreign threads.
inline unsigned worker_count() noexcept {
  detail::executor* home = detail::current_executor();
  return home == nullptr ? 1 : home->traits().worker_count;
}

namespace detail {
/// Returns true if an idle worker asks the calling strand for work: time to split. Two loads.
inline bool hungry() noexcept {
  const task_stack* here = current_stack;
  return here != nullptr && here->is_wanted();
}
}  // namespace detail

}  // namespace creek
