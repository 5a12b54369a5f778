// SPDX-License-Identifier: Apache-2.0
// How long a program computes between two calls, for --clock measured: the host's CPU time of the
// thread, times how many cycles of a simulated core a second of it stands for.
#pragma once

#include <creek/core/units.hpp>

#include "thread_cpu_time.hpp"

namespace creek::rcce {

class stretch_clock {
 public:
  stretch_clock() = default;  ///< measures nothing
  explicit stretch_clock(double cycles_a_second) noexcept : factor_{cycles_a_second} {}

  void start() noexcept {
    if (factor_ > 0) begun_ = tool::thread_cpu_seconds();
  }
  /// Cycles since start().
  [[nodiscard]] cycles stop() noexcept {
    if (factor_ <= 0) return {};
    return {static_cast<std::int64_t>((tool::thread_cpu_seconds() - begun_) * factor_)};
  }

 private:
  double factor_ = 0;
  double begun_ = 0;
};

}  // namespace creek::rcce
