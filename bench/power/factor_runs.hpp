// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting under a power policy: time, and what workers burn outside of tasks.
#pragma once
#include <cstdint>
#include <string>

namespace bench::power {

struct factor_run {
  double wall = 0;  ///< seconds
  double cpu = 0;   ///< seconds of all workers meanwhile
  double idle = 0;  ///< ... of these, without a task
};

/// A fresh runtime, a warm-up, one factorization; its residual is checked afterwards, untimed, and
/// what is not a factorization throws.
factor_run factor(const std::string& policy, unsigned workers, std::int64_t n);

}  // namespace bench::power
