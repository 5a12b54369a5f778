// SPDX-License-Identifier: Apache-2.0
// The two ways in which the engine uses the runtime. Their callbacks are long enough to be worth an
// indirect call, so these functions are compiled once and not for every job.
#pragma once

#include <creek/core/function_ref.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>

namespace creek::mapreduce::detail {

/// Calls `f(i)` for i in [0, n), each as a task worth stealing. Throws like parallel_for.
void for_each_index(std::size_t n, function_ref<void(std::size_t)> f);

/// Hands out 0, 1, ... n-1 in order to `takers` tasks, each of which asks again when it is done:
/// the long pieces that an input puts first begin first. Calls `f(taker, i)`. A taker is one task,
/// so data indexed by it needs no lock, wherever the task migrates. After an exception nothing more
/// is handed out. Of several exceptions, rethrows that of the smallest i; since all smaller i were
/// handed out before and run to their end, it does not depend on timing.
void deal(std::size_t n, std::size_t takers, function_ref<void(std::size_t, std::size_t)> f);

}  // namespace creek::mapreduce::detail
