// SPDX-License-Identifier: Apache-2.0
// Tree search on ranks that steal from each other. creek has no stealing between machines: this is
// a protocol that could be built, with messages as in [Saraswat 2011]. The tree is that of
// bench/uts [Olivier 2006] and is really searched; the time of a node is charged.
#pragma once

#include <cstdint>
#include <vector>

#include "constants.hpp"
#include "model_communicator.hpp"

namespace creek::tool::machines {

enum class victim_choice : std::uint8_t {
  random,    ///< asks random ranks until one has work
  lifelines  ///< asks one random rank, then its lifelines, which send work when they have some
};

struct tree_search {
  int depth_limit = 13;
  victim_choice victims = victim_choice::lifelines;
  /// Nodes between two looks for requests [Saraswat 2011].
  int nodes_per_look = 511;
};

/// Counts of a search, which search_rank() of all ranks fills.
struct search_outcome {
  std::uint64_t expanded = 0;  ///< nodes whose children are known
  std::uint64_t open = 0;      ///< nodes found and not expanded, anywhere
  std::uint64_t steals = 0, failed_steals = 0;
  exact_time last_node;  ///< when the last node was expanded
};

/// One rank of a search; rank 0 begins with the root.
void search_rank(model_communicator& c, const constants& costs, const tree_search& search,
                 search_outcome& all);

/// Returns the number of nodes of the tree.
[[nodiscard]] std::uint64_t count_nodes(int depth_limit);

/// Returns the ranks that a rank without work waits for: its neighbours in a hypercube.
[[nodiscard]] std::vector<int> lifelines_of(int rank, int ranks);

}  // namespace creek::tool::machines
