// SPDX-License-Identifier: Apache-2.0
// LU, Cholesky and QR on a simulated chip whose cores hold the matrix in their private memories and
// send each other panels: one run, for use by comparisons.
#pragma once

#include <cstdint>
#include <string>

#include <creek/linalg/ranks.hpp>
#include <creek/scc/spmd.hpp>

#include "dense/report.hpp"

namespace creek::tool {

/// Results of the ranks, which share the host's memory; each rank adds its own columns.
struct rank_factors {
  linalg::matrix<double> matrix;
  std::vector<linalg::index_t> pivots;
  std::vector<double> tau;
  linalg::index_t info = 0;
};

/// Factors `whole` by the ranks of a communicator. All of them call it.
void factor_on_ranks(scc_communicator& ranks, dense::method how,
                     const linalg::rank_options& options, linalg::index_t block,
                     const linalg::matrix<double>& whole, rank_factors& out);

/// Judges the factors of `a`.
[[nodiscard]] std::vector<dense::judgement> judge_factors(dense::method how,
                                                          const linalg::matrix<double>& a,
                                                          const rank_factors& found);

/// Settings of a factorization. A setting that is 0 or empty is chosen automatically.
struct message_settings {
  linalg::index_t n = 1024;
  linalg::index_t block = 0;
  int cores = 48;
  std::string policy = "polling";  ///< how cores wait, by the names of creek::power
  bool check = true;               ///< compute the residual
  std::uint64_t matrix_seed = 1;
  linalg::rank_options ranks;
  std::uint32_t chunks_in_flight = 2;  ///< chunks in flight per message: 2 is pipelined
  std::size_t buffer_bytes = 4096;     ///< bytes of each core's message-passing memory
};

/// Results of a run. Energies are simulated and cover the whole chip; the parts of a core's time
/// are summed over the cores that take part.
struct message_run {
  linalg::index_t block = 0;
  virtual_time time;
  units::joules energy;
  units::seconds busy, waiting, halted;
  double flops = 0;
  linalg::index_t info = 0;
  double residual = 0;  ///< scaled as LAPACK's tests do; a good one is at most 30
  scc_backend::run_report report;
};

/// Runs one factorization, and finds the residual outside of virtual time. Throws usage_error for
/// impossible settings. Matrices are uniform, for Cholesky positive definite.
[[nodiscard]] message_run run_messages(dense::method how, const message_settings& chosen,
                                       scc_backend::machine_options on);

/// Returns the block size that run_messages() uses if the setting is 0.
[[nodiscard]] linalg::index_t message_block(linalg::index_t n, int cores);

}  // namespace creek::tool
