// SPDX-License-Identifier: Apache-2.0
// How the creek peer enters its runtime.
#pragma once
#include <creek/tasking.hpp>

#include "workload.hpp"

namespace bench {

/// The runtime that this process keeps, with the scheduler, deque and idle policy of the settings.
creek::runtime& kept_runtime(const settings& s);

/// Runs `f` on one of its workers.
template <class F>
void inside(const settings& s, F&& f) {
  kept_runtime(s).run(f);
}

/// Runs both closures in parallel.
inline constexpr auto fork = [](const auto& f, const auto& g) { creek::fork_join(f, g); };

}  // namespace bench
