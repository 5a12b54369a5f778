// SPDX-License-Identifier: Apache-2.0
// Starts the workers of the Lace peer. Its tasks are functions that its macros declare.
#pragma once
#include <lace.h>

#include "workload.hpp"

namespace bench {

/// Starts `s.workers` workers with a deque for `tasks` tasks each (0: Lace's default), once per
/// process. A task that does not fit into its worker's deque ends the process.
inline void start_lace(const settings& s, std::size_t tasks = 0) {
  struct workers {
    workers(unsigned count, std::size_t tasks) { lace_start(count, tasks); }
    ~workers() { lace_stop(); }
  };
  static const workers started(s.workers, tasks);
}

}  // namespace bench
