// SPDX-License-Identifier: Apache-2.0
// Idle cost: processor time that a runtime uses without work, from 10 ms after its last task, as a
// percentage of one core. n is the length of the idle period in milliseconds; waiting for it is the
// measurement.
#pragma once
#include <sys/resource.h>

#include <thread>

#include "harness/workload.hpp"

namespace bench::idle {

inline constexpr description what{
    .name = "idle",
    .about = "processor time of an idle runtime, from 10 ms after its last task",
    .unit = "% of a core",
    .full = 2000,
    .quick = 500,
    .smoke = 20,
    .warmup = false,
    .scale = 100};

inline double cpu_ns() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_usec) * 1e3;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

/// Runs once: `warm()` makes all workers run something, then nothing happens.
template <class Warm>
sample run(const settings& s, const Warm& warm) {
  warm();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const double before = cpu_ns();
  const double wall = timed([&] { std::this_thread::sleep_for(std::chrono::milliseconds(s.n)); });
  return {cpu_ns() - before, wall, 1};
}

}  // namespace bench::idle
