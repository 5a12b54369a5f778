// SPDX-License-Identifier: Apache-2.0
// Enters the runtime of the oneTBB peer.
#pragma once
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>

#include "workload.hpp"

namespace bench {

/// Returns the arena of `s.workers` slots that this process keeps.
inline tbb::task_arena& arena(const settings& s) {
  static tbb::global_control limit(tbb::global_control::max_allowed_parallelism, s.workers);
  static tbb::task_arena instance(static_cast<int>(s.workers));
  return instance;
}

/// Runs `f` in the kept arena. Main thread only.
template <class F>
void inside(const settings& s, F&& f) {
  arena(s).execute(f);
}

/// An arena of one worker, which is not the caller.
struct one_worker {
  tbb::global_control limit{tbb::global_control::max_allowed_parallelism, 2};
  tbb::task_arena arena{1, 0};

  /// Runs `f` on the worker, and spins until it is done.
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

/// Runs both closures in parallel with oneTBB's `tbb::parallel_invoke`.
inline constexpr auto fork = [](const auto& f, const auto& g) { tbb::parallel_invoke(f, g); };

}  // namespace bench
