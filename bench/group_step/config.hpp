// SPDX-License-Identifier: Apache-2.0
// All workers do almost nothing (each counts), and one of them learns when all have: a step of a
// group with a member on each, or a barrier in libraries without groups. n steps, the workers awake
// and polling. Compare with the limits `barrier` and `barrier_tree`: a step that one core starts
// cannot return before a line has gone out and one has come back.
#pragma once
#include <algorithm>
#include <functional>

#include "harness/invoked.hpp"

namespace bench::group_step {

inline constexpr description what{.name = "group_step",
                                  .about = "empty step of all workers, or their barrier (median)",
                                  .unit = "ns",
                                  .full = 640'000,
                                  .quick = 64'000,
                                  .smoke = 640,
                                  .min_workers = 2,
                                  .groups = "invoke",
                                  .bounds = "barrier barrier_tree"};

/// Returns the steps that all workers did, or 0, a wrong answer, if they differ.
inline std::uint64_t agreed(const std::vector<std::uint64_t>& steps) {
  const bool same =
      std::adjacent_find(steps.begin(), steps.end(), std::not_equal_to<>()) == steps.end();
  return same && !steps.empty() ? steps.front() : 0;
}

}  // namespace bench::group_step
