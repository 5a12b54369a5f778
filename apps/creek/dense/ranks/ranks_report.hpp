// SPDX-License-Identifier: Apache-2.0
// Results of `creek lu` and its siblings on ranks, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dense/problem.hpp"
#include "energy_of_ranks.hpp"

namespace creek::tool::dense {

struct ranks_report {
  std::string command;
  method how = method::lu;
  index_t n = 0, block = 0;
  std::string policy;           ///< empty: none
  std::vector<double> seconds;  ///< seconds per run
  index_t info = 0;
  std::optional<double> residual;   ///< scaled; empty if it was not asked for
  std::vector<rank_figures> ranks;  ///< of all runs
};

/// Returns why the run failed, in a few words, or an empty text if it did not.
std::string failure(const ranks_report& found);

void print_text(const ranks_report& found);
std::string to_json(const ranks_report& found);

}  // namespace creek::tool::dense
