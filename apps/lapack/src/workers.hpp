// SPDX-License-Identifier: Apache-2.0
// On which threads a call computes.
#pragma once

#include <utility>

#include <creek/tasking/runtime.hpp>

namespace creek::lapack {

/// The runtime that a call of so many real operations from this thread goes to; null: it is done
/// where it was made, because that thread is a worker already, the work is small, or there is one
/// processor. The first large call makes the runtime, which lives as long as the process; so does a
/// child of fork(), for itself. Any thread. Never throws: without threads work is done in place,
/// which is said once on standard error.
runtime* runtime_for(double operations) noexcept;

/// Calls f on the workers that suit it and returns its result.
template <class F>
auto on_workers(double operations, F f) {
  if (runtime* const workers = runtime_for(operations)) return workers->run(f);
  return f();
}

}  // namespace creek::lapack
