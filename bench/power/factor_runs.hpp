// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting under a power policy: time, and CPU time of workers without a task.
#pragma once
#include <cstdint>
#include <string>

namespace bench::power {

struct factor_run {
  double wall = 0;  ///< seconds
  double cpu = 0;   ///< CPU seconds of all workers during the run
  double idle = 0;  ///< the part of `cpu` without a task
};

/// Runs one factorization on a fresh runtime after a warm-up. Checks its residual afterwards,
/// untimed, and throws if it is not a factorization.
factor_run factor(const std::string& policy, unsigned workers, std::int64_t n);

}  // namespace bench::power
