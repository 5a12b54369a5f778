// SPDX-License-Identifier: Apache-2.0
// Measures the time of the stages of a run.
#pragma once

#include <chrono>
#include <creek/mapreduce/options.hpp>

namespace creek::mapreduce::detail {

/// Adds its lifetime to a stage's time.
class stopwatch {
 public:
  stopwatch(stage_times& times, stage s) : to_(times[s]) {}
  ~stopwatch() { to_ += std::chrono::steady_clock::now() - start_; }
  stopwatch(const stopwatch&) = delete;
  stopwatch& operator=(const stopwatch&) = delete;

 private:
  std::chrono::nanoseconds& to_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace creek::mapreduce::detail
