// SPDX-License-Identifier: Apache-2.0
// Enters a team of the OpenMP peers: the same objects are linked with libgomp and libomp.
#pragma once
#include "workload.hpp"

namespace bench {

/// Runs `f` once, on one thread of a team of `s.workers`; the others execute its tasks.
template <class F>
void inside(const settings& s, F&& f) {
#pragma omp parallel num_threads(s.workers)
#pragma omp single
  f();
}

/// Runs both closures in parallel: one as a task, one by the caller.
inline constexpr auto fork = [](const auto& f, const auto& g) {
#pragma omp task shared(f)
  f();
  g();
#pragma omp taskwait
};

}  // namespace bench
