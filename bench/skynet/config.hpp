// SPDX-License-Identifier: Apache-2.0
// Skynet: a tree of tasks in which each node has ten children and returns the sum of what they
// return; a leaf returns its number. Nothing but forks and joins, ten at a time. n is the depth.
// `skynet` uses the library's call for many children, `skynet_group` a group of tasks, and
// `skynet_halves` forks of two, which split the ten children in halves.
#pragma once
#include <array>
#include <numeric>

#include "harness/workload.hpp"

namespace bench::skynet {

inline constexpr description what{.name = "skynet",
                                  .about = "tree of tasks, ten children per node, no cutoff",
                                  .unit = "ns/task",
                                  .full = 7,
                                  .quick = 5,
                                  .smoke = 3};
inline constexpr description group{.name = "skynet_group",
                                   .about = "skynet with a group of tasks per node",
                                   .unit = "ns/task",
                                   .full = 7,
                                   .quick = 5,
                                   .smoke = 3};
inline constexpr description halves{.name = "skynet_halves",
                                    .about = "skynet by forks of two: children in halves",
                                    .unit = "ns/task",
                                    .full = 7,
                                    .quick = 5,
                                    .smoke = 3};

inline constexpr std::size_t children = 10;

/// Results of the children of a node.
using results = std::array<std::uint64_t, children>;

inline std::uint64_t sum(const results& below) {
  return std::accumulate(below.begin(), below.end(), std::uint64_t{0});
}

/// Returns the leaves below a node that is `depth` levels above them.
inline std::uint64_t leaves(std::int64_t depth) {
  std::uint64_t count = 1;
  for (std::int64_t level = 0; level < depth; ++level) count *= children;
  return count;
}

/// Returns the nodes below the root: 10 + 100 + ... + 10^n tasks.
inline double tasks(const settings& s) {
  return static_cast<double>((leaves(s.n + 1) - children) / (children - 1));
}

}  // namespace bench::skynet
