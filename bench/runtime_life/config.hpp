// SPDX-License-Identifier: Apache-2.0
// The life of a runtime: workers are made, run one empty task for the caller, and end. n is the
// number of lives; the figure is the median of the means of 64 parts of them.
#pragma once
#include "harness/workload.hpp"

namespace bench::runtime_life {

inline constexpr description what{.name = "runtime_life",
                                  .about = "make workers, run one empty task, end them (median)",
                                  .unit = "ns",
                                  .full = 6400,
                                  .quick = 1280,
                                  .smoke = 64};

/// `live(task)` makes the workers, has them run `task` and ends them.
template <class Live>
sample run(const settings& s, const Live& live) {
  std::uint64_t ran = 0;
  sample result = median_of_parts(s.n, [&] { live([&ran] { ++ran; }); });
  result.answer = ran;
  return result;
}

}  // namespace bench::runtime_life
