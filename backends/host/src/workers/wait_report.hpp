// SPDX-License-Identifier: Apache-2.0
// The tasks of a scheduler that wait.
#pragma once

#include <vector>

#include <creek/tasking/waiting.hpp>

#include "fibers/fiber_pool.hpp"
#include "workers/worker_set.hpp"

namespace creek::host_backend {

/// Returns the suspended tasks; any thread. Strands whose waits end meanwhile go on when it has
/// looked at all of them.
std::vector<waiting_task> waiting_tasks(const worker_set& workers, const fiber_pool& fibers);

}  // namespace creek::host_backend
