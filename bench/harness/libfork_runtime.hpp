// SPDX-License-Identifier: Apache-2.0
// The scheduler of the libfork peer. Its tasks are coroutines that `lf::sync_wait` starts.
#pragma once
#include <libfork.hpp>

#include "workload.hpp"

namespace bench {

/// Returns the pool of `s.workers` workers that this process keeps. Idle workers sleep.
inline lf::lazy_pool& pool(const settings& s) {
  static lf::lazy_pool kept(s.workers);
  return kept;
}

}  // namespace bench
