// SPDX-License-Identifier: Apache-2.0
// n items of 8 bytes through 2 or 4 stages, a source and a sink among them, that do nothing but
// pass them on, one at a time and in order. The answer is their sum, which the sink forms. Compare
// with the limit `bare_ring`, which is one channel.
#pragma once
#include "harness/workload.hpp"

namespace bench::stream_stages {

inline constexpr description two{.name = "stream_2",
                                 .about = "items from a source to a sink",
                                 .unit = "ns/item",
                                 .full = 10'000'000,
                                 .quick = 1'000'000,
                                 .smoke = 1000,
                                 .groups = "stream",
                                 .bounds = "bare_ring"};
inline constexpr description four =
    like(two, "stream_4", "the same through two stages between them");

/// Items between two stages.
inline constexpr std::size_t capacity = 1024;

/// Calls `run(stages, sum)`, which passes 0 .. n - 1 on and adds them to `sum`.
template <class Run>
sample measure(const settings& s, int stages, const Run& run) {
  std::uint64_t sum = 0;
  const double ns = timed([&] { run(stages, sum); });
  return {ns, static_cast<double>(s.n), sum};
}

}  // namespace bench::stream_stages
