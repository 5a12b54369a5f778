// SPDX-License-Identifier: Apache-2.0
// Many tasks that wait at once, each for an event of its own that comes from outside: n tasks
// begin, suspend, are resumed by a thread that is no worker, and end. Two figures from the same
// program: the time per task, and the memory per task while all of them wait.
#pragma once
#include <unistd.h>

#include <fstream>
#include <string>

#include "harness/workload.hpp"

namespace bench::suspended_tasks {

inline constexpr description what{.name = "suspended_tasks",
                                  .about = "begin a task, suspend it, resume it from outside",
                                  .unit = "ns",
                                  .full = 100'000,
                                  .quick = 20'000,
                                  .smoke = 1000};
inline constexpr description bytes{.name = "suspended_bytes",
                                   .about = "memory of a suspended task, page tables included",
                                   .unit = "B",
                                   .full = 100'000,
                                   .quick = 20'000,
                                   .smoke = 1000,
                                   .warmup = false};

/// Returns the bytes of this process's resident pages and of the page tables for them.
inline double memory_in_use() {
  std::ifstream status("/proc/self/status");
  double kib = 0;
  for (std::string word; status >> word;) {
    if (double value = 0; (word == "VmRSS:" || word == "VmPTE:") && status >> value) kib += value;
  }
  return kib * 1024;
}

}  // namespace bench::suspended_tasks
