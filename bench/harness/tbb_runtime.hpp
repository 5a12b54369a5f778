// SPDX-License-Identifier: Apache-2.0
// How the oneTBB peer enters its runtime.
#pragma once
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>

#include "workload.hpp"

namespace bench {

/// The arena of `s.workers` slots that this process keeps.
inline tbb::task_arena& arena(const settings& s) {
  static tbb::global_control limit(tbb::global_control::max_allowed_parallelism, s.workers);
  static tbb::task_arena instance(static_cast<int>(s.workers));
  return instance;
}

/// Runs `f` in that arena. Main thread only.
template <class F>
void inside(const settings& s, F&& f) {
  arena(s).execute(f);
}

/// An arena of one worker, which is not the caller.
struct one_worker {
  tbb::global_control limit{tbb::global_control::max_allowed_parallelism, 2};
  tbb::task_arena arena{1, 0};

  /// Has it run `f`, and spins until it has.
  template <class F>
  void call(const F& f) {
    std::atomic<bool> done{false};
    arena.enqueue([&] {
      f();
      done.store(true, std::memory_order_release);
    });
    while (!done.load(std::memory_order_acquire)) {
    }
  }
};

/// Runs both closures in parallel: `tbb::parallel_invoke`, oneTBB's own word for it.
inline constexpr auto fork = [](const auto& f, const auto& g) { tbb::parallel_invoke(f, g); };

}  // namespace bench
