// SPDX-License-Identifier: Apache-2.0
// Choice of the threads that compute a call.
#pragma once

#include <utility>

#include <creek/tasking/runtime.hpp>

#include "call_log.hpp"

namespace creek::lapack {

/// Returns the runtime for a call of that many real operations from this thread, or nullptr to
/// compute in place because the thread is a worker already, the work is small, or there is one
/// processor. The first large call makes the runtime, which lives as long as the process; a child
/// of fork() makes its own. Any thread. Never throws: without threads the work is done in place,
/// which is reported once on standard error.
runtime* runtime_for(double operations) noexcept;

/// Calls f on the workers that suit it and returns its result.
template <class F>
auto on_workers(double operations, F f) {
  runtime* const workers = runtime_for(operations);
  if (notes_calls.load(std::memory_order_relaxed)) note_work(operations, workers != nullptr);
  if (workers != nullptr) return workers->run(f);
  return f();
}

}  // namespace creek::lapack
