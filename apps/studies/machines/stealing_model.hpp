// SPDX-License-Identifier: Apache-2.0
// Tasks on ranks that steal from each other: each rank has a bag of tasks and runs the newest one
// first. A rank without tasks asks random victims, then leaves requests at its lifelines
// [Saraswat 2011]; a victim gives the older half of its bag when it looks for messages. A task is a
// node of an unbalanced tree [Olivier 2006], which is really searched; the time of a node is
// charged.
#pragma once

#include <cstdint>
#include <vector>

#include "constants.hpp"
#include "model_communicator.hpp"

namespace creek::tool::machines {

struct tree_search {
  int depth_limit = 13;
  std::uint64_t seed = 1;  ///< of the random victims
};

/// Counts of a search, which search_rank() of all ranks fills.
struct search_outcome {
  std::uint64_t nodes = 0;
  std::uint64_t steals = 0;         ///< messages with tasks
  std::uint64_t failed_steals = 0;  ///< random victims that had none
  std::uint64_t rounds = 0;         ///< in which rank 0 collected counts, to find the end
};

/// One rank of a search; rank 0 begins with the root.
void search_rank(model_communicator& c, const constants& costs, const tree_search& search,
                 search_outcome& all);

/// Returns the ranks at which a rank leaves its requests: its neighbours in a hypercube.
[[nodiscard]] std::vector<int> lifelines_of(int rank, int ranks);

}  // namespace creek::tool::machines
