// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search [Olivier 2006]: counts the nodes of a tree that unfolds while it is
// searched, one task per node, no cutoff.
#pragma once
#include "../../support/unbalanced_tree.hpp"

#include "harness/workload.hpp"

namespace bench::uts {

inline constexpr description what{
    .name = "uts",
    .about = "unbalanced tree search, geometric, one task per node, no cutoff",
    .unit = "ns/node",
    .full = 10,
    .quick = 7,
    .smoke = 4};

using creek_bench::child;
using creek_bench::children;
using creek_bench::max_children;
using node = creek_bench::tree_node;

inline node root() {
  return creek_bench::tree_root();
}

}  // namespace bench::uts
