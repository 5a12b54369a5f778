// SPDX-License-Identifier: Apache-2.0
// Tree of unbalanced tree search [Olivier 2006], which unfolds while it is searched: geometric, of
// fixed shape: a node above the depth limit has a geometrically distributed number of children
// with mean 4. UTS derives a child's state by SHA-1, this tree by a 64-bit mix (the finaliser of
// SplitMix64): nodes are much cheaper, so figures compare with each other, not with published UTS
// runs, and say more about the scheduler.
#pragma once

#include <cstdint>

namespace creek_bench {

inline constexpr int max_children = 64;

struct tree_node {
  std::uint64_t state;
  std::int64_t depth;
};

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

inline tree_node tree_root() {
  return {mix(19), 0};
}

inline tree_node child(const tree_node& parent, int index) {
  const auto step = 0x9e3779b97f4a7c15U * static_cast<std::uint64_t>(index + 1);
  return {mix(parent.state + step), parent.depth + 1};
}

/// Uses only comparisons and products of doubles, so the tree is the same in every language.
inline int children(const tree_node& at, std::int64_t depth_limit) {
  constexpr double q = 0.8;  // P(at least one more child); mean q / (1 - q) = 4
  if (at.depth == 0) return 4;
  if (at.depth >= depth_limit) return 0;
  const double u = static_cast<double>(at.state >> 11) * 0x1p-53;
  int count = 0;
  for (double tail = q; u < tail && count < max_children; tail *= q) ++count;
  return count;
}

/// Counts a node and those below it, in one thread.
inline std::uint64_t count_nodes(const tree_node& at, std::int64_t depth_limit) {
  std::uint64_t nodes = 1;
  const int count = children(at, depth_limit);
  for (int i = 0; i < count; ++i) nodes += count_nodes(child(at, i), depth_limit);
  return nodes;
}

}  // namespace creek_bench
