// SPDX-License-Identifier: Apache-2.0
// How long a program computes between two calls, for --clock measured: the host's CPU time of the
// thread, times how many cycles of a simulated core a second of it stands for.
#pragma once

#include <ctime>

#include <creek/core/units.hpp>

namespace creek::rcce {

class stretch_clock {
 public:
  stretch_clock() = default;  ///< measures nothing
  explicit stretch_clock(double cycles_a_second) noexcept : factor_{cycles_a_second} {}

  void start() noexcept {
    if (factor_ > 0) begun_ = thread_seconds();
  }
  /// Cycles since start().
  [[nodiscard]] cycles stop() noexcept {
    if (factor_ <= 0) return {};
    return {static_cast<std::int64_t>((thread_seconds() - begun_) * factor_)};
  }

  static double thread_seconds() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

 private:
  double factor_ = 0;
  double begun_ = 0;
};

}  // namespace creek::rcce
