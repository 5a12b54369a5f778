// SPDX-License-Identifier: Apache-2.0
// Measures how long a program computes between two operations of the chip: the host's CPU time of
// the thread, times the cycles of a simulated core per second of it.
#pragma once

#include <algorithm>
#include <cstdint>

#include <creek/core/measuring/thread_cpu_time.hpp>
#include <creek/core/units.hpp>

namespace creek::scc_backend {

class stretch_clock {
 public:
  explicit stretch_clock(double cycles_a_second) noexcept : factor_{cycles_a_second} {
    reading_ = 1;
    for (int i = 0; i < 100; ++i) {
      start();
      reading_ = std::min(reading_, thread_cpu_seconds() - begun_);
    }
  }

  /// Maximum cycles per second, so that a stretch of two hours is still a number.
  static constexpr double most = 1e15;

  void start() noexcept { begun_ = thread_cpu_seconds(); }
  /// Returns the cycles since start(), without the time that reading the clock takes.
  [[nodiscard]] cycles stop() const noexcept {
    const double passed = std::max(0.0, thread_cpu_seconds() - begun_ - reading_);
    return {static_cast<std::int64_t>(passed * factor_)};
  }

 private:
  double factor_;
  double reading_;
  double begun_ = 0;
};

}  // namespace creek::scc_backend
