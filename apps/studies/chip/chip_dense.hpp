// SPDX-License-Identifier: Apache-2.0
// Factorizations by blocks under a power policy, in the memory that the cores of a simulated chip
// share, or in their private memories and by messages: the runs of `creek lu|chol|qr --backend scc`
// and `creek bench scc-linalg`.
#pragma once

#include <creek/core/units.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/scc.hpp>
#include <cstdint>
#include <string>

#include "dense/problem.hpp"
#include "options/policy_options.hpp"

namespace creek::tool {

struct chip_dense_problem {
  dense::method how = dense::method::lu;
  long long n = 1024;
  long long block = 64;  ///< by messages, 0 means automatic
  unsigned cores = 48;
  std::uint64_t seed = 1;           ///< seed of the matrix
  std::string policy = "blocking";  ///< spelt as in policy_names()
  policy_limits limits;
  bool check = true;  ///< compute residuals
  /// Runs ranks with columns in their private memories (linalg/ranks.hpp) instead of tasks: there
  /// is no graph and no slack_reduction, and `report` holds only the energy.
  bool by_messages = false;
  /// Schedule of an earlier run of the same problem, needed by slack_reduction.
  const linalg::graph_report* before = nullptr;
  scc_backend::machine_options on;
};

struct chip_dense_run {
  units::seconds time;   ///< simulated time of the factorization alone
  units::joules energy;  ///< energy of the whole chip in that time
  double residual = 0;   ///< scaled, the largest one; LAPACK's threshold is 30
  bool checked = false;
  long long info = 0;
  linalg::graph_report graph;
  scc_backend::task_report report;

  units::watts power() const noexcept { return energy / time; }
  double energy_delay() const noexcept { return energy.value * time.value; }
};

/// Throws creek::error with ENOMEM if this machine lacks memory for the matrices of order n: the
/// one that is factored, the original, and those that the chip makes of it.
void require_chip_memory(dense::method how, long long n);

/// Runs a problem. Throws usage_error if it is impossible or its policy lacks an option.
chip_dense_run run_on_chip(const chip_dense_problem& given);

}  // namespace creek::tool
