// SPDX-License-Identifier: Apache-2.0
// The two ways in which the engine uses the runtime. What they call is worth a steal, and so an
// indirect call: they are compiled once and not for every job.
#pragma once

#include <creek/core/function_ref.hpp>
#include <creek/tasking/this_worker.hpp>
#include <cstddef>

namespace creek::mapreduce::detail {

/// Calls `f(i)` for i in [0, n), each as a piece of work worth stealing. Errors: as parallel_for.
void for_each_index(std::size_t n, function_ref<void(std::size_t)> f);

/// Hands out 0, 1, ... n-1 in order to `takers` tasks that ask again when they are done, so that
/// the long pieces that an input puts first do not come last. `f(taker, i)`: a taker is one task,
/// so what is indexed by it needs no lock, wherever the task migrates. After an exception no more
/// is handed out; of several the one of the least i comes out, so that it does not depend on who
/// was faster: all below an i have been handed out when it is, and go on to their end.
void deal(std::size_t n, std::size_t takers, function_ref<void(std::size_t, std::size_t)> f);

}  // namespace creek::mapreduce::detail
