// SPDX-License-Identifier: Apache-2.0
// The thread pool of the citor peer, of which the caller is a member.
#pragma once
#include <citor/hints.h>
#include <citor/thread_pool.h>

#include <optional>
#include <stdexcept>
#include <thread>

#include "workload.hpp"

namespace bench {

using citor_hints = citor::HintsDefaults;

/// The pool that this process keeps; empty until inside() is called.
inline std::optional<citor::ThreadPool> citor_pool;

/// Calls `f` in a process that has a pool of `s.workers` participants, the caller among them. Main
/// thread only. By default citor makes no more workers than there are cores; where every processor
/// takes part its placement on both threads of a core is asked for.
template <class F>
void inside(const settings& s, F&& f) {
  if (!citor_pool) {
    citor_pool.emplace(s.workers, s.workers == std::thread::hardware_concurrency()
                                      ? citor::Affinity::PerCpuSmtPair
                                      : citor::Affinity::PerCpu);
  }
  if (citor_pool->participants() != s.workers) {
    throw std::runtime_error("citor makes a pool of " + std::to_string(citor_pool->participants()) +
                             " workers here, not " + std::to_string(s.workers));
  }
  f();
}

/// Runs both closures in parallel with citor's `forkJoin`.
inline constexpr auto fork = [](const auto& f, const auto& g) {
  citor_pool->forkJoin<citor_hints>(f, g);
};

}  // namespace bench
