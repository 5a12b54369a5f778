// SPDX-License-Identifier: Apache-2.0
// Wake-up latency: from handing one task to a runtime with sleeping workers to that task's first
// instruction. n is the number of wakes; before each the process is left idle for `gap`, which is
// part of the measurement, not a way to win a race.
#pragma once
#include <thread>

#include "harness/workload.hpp"

namespace bench::wakeup {

inline constexpr description what{
    .name = "wakeup",
    .about = "task handed to a sleeping runtime, until it runs (median)",
    .unit = "ns",
    .full = 200,
    .quick = 40,
    .smoke = 3,
    .warmup = false};

inline constexpr std::chrono::milliseconds gap{5};

using clock = std::chrono::steady_clock;

/// Runs once: `submit(started)` hands over a task that first calls started(), and returns when the
/// task is done.
template <class Submit>
sample run(const settings& s, const Submit& submit) {
  std::vector<double> latencies;
  for (std::int64_t i = 0; i < s.n; ++i) {
    std::this_thread::sleep_for(gap);
    clock::time_point began;
    const auto handed = clock::now();
    submit([&began] { began = clock::now(); });
    latencies.push_back(std::chrono::duration<double, std::nano>(began - handed).count());
  }
  return median_sample(std::move(latencies), static_cast<std::uint64_t>(s.n));
}

}  // namespace bench::wakeup
