// SPDX-License-Identifier: Apache-2.0
// Items that are far apart, through 4 stages that do nothing but pass them on: an item waits for
// nothing but its transport. The figure is the median of the times from just before an item is
// written by the source to its arrival at the sink.
#pragma once
#include "harness/workload.hpp"

namespace bench::stream_latency {

inline constexpr description what{.name = "stream_latency",
                                  .about = "an item through 4 stages, one every 100 us or more",
                                  .unit = "us",
                                  .full = 5000,
                                  .quick = 500,
                                  .smoke = 20,
                                  .scale = 1e-3,
                                  .groups = "stream"};

/// Stages, with the source and the sink.
inline constexpr int stages = 4;
/// The source sleeps for this long before each item.
inline constexpr std::chrono::microseconds pause{100};

/// The sink: gets the time at which each item was written, in order.
class arrivals {
 public:
  explicit arrivals(std::int64_t items) { times_.reserve(static_cast<std::size_t>(items)); }
  void add(std::chrono::steady_clock::time_point written) {
    times_.push_back(
        std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - written)
            .count());
  }
  [[nodiscard]] sample result() && {
    const auto count = static_cast<std::uint64_t>(times_.size());
    return median_sample(std::move(times_), count);
  }

 private:
  std::vector<double> times_;
};

}  // namespace bench::stream_latency
