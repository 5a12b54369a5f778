// SPDX-License-Identifier: Apache-2.0
// Results of `creek lu` and its siblings, as text and as JSON.
#pragma once

#include <creek/linalg/residual.hpp>
#include <optional>
#include <string>
#include <vector>

#include "problem.hpp"

namespace creek::tool::dense {

/// A scaled residual: good answers give about 1, whatever the size and the precision.
struct judgement {
  const char* formula;
  double value;
  double threshold;

  bool passed() const noexcept { return linalg::passes(value, threshold); }
};

/// Statistics of several measurements.
struct spread {
  double median = 0, min = 0, max = 0;
};
/// Returns zeros if there are no values.
spread spread_of(std::vector<double> values);

struct report {
  problem what;
  unsigned workers = 0;
  std::string backend;
  std::vector<double> seconds;       ///< seconds per run
  std::vector<double> gemm_seconds;  ///< seconds per product, measured in turn with the runs
  index_t info = 0;
  std::size_t tasks = 0;              ///< tasks of the last run's factorization
  std::vector<double> activity{};     ///< shares of its time with 0, 1, ... workers in them
  std::optional<int> corrections{};   ///< number of a refined solution, or a reason in mixed_result
  std::vector<judgement> judgements;  ///< empty unless asked for and something was solved
  std::optional<double> rcond{};      ///< set with the judgements of a solution
};

/// Returns why the run failed, in a few words, or an empty text if it did not.
std::string failure(const report& found);

void print_text(const report& found);
std::string to_json(const report& found);

}  // namespace creek::tool::dense
