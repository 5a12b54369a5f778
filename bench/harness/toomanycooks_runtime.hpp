// SPDX-License-Identifier: Apache-2.0
// The executor of the TooManyCooks peer. Its tasks are coroutines.
#pragma once
#include <tmc/ex_cpu.hpp>
#include <tmc/spawn_many.hpp>
#include <tmc/spawn_tuple.hpp>
#include <tmc/sync.hpp>
#include <tmc/task.hpp>

#include "workload.hpp"

namespace bench {

/// Runs `task` on the executor of `s.workers` threads that this process keeps, and returns its
/// result. Not on one of those threads.
template <class Result>
Result run_task(const settings& s, tmc::task<Result>&& task) {
  struct threads {
    explicit threads(unsigned count) { tmc::cpu_executor().set_thread_count(count).init(); }
    ~threads() { tmc::cpu_executor().teardown(); }
  };
  static const threads kept(s.workers);
  return tmc::post_waitable(tmc::cpu_executor(), std::move(task)).get();
}

}  // namespace bench
