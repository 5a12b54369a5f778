// SPDX-License-Identifier: Apache-2.0
// CPU time of the calling thread: what computing costs this machine, however busy it is.
#pragma once

#include <ctime>

#include <creek/core/language.hpp>

namespace creek {

/// Returns the CPU seconds since the thread began. Makes a system call, about 0.3 us.
inline double thread_cpu_seconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace creek
