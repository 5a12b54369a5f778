// SPDX-License-Identifier: Apache-2.0
// LU, Cholesky and QR on a simulated chip whose cores have the matrix in their private memories and
// send each other panels: one run, for whoever compares, and a study of many.
#pragma once

#include <cstdint>
#include <string>

#include <creek/linalg/ranks.hpp>
#include <creek/scc/spmd.hpp>

namespace creek::command_line {
class command;
}

namespace creek::tool {

/// In the order of dense::method.
enum class message_problem : std::uint8_t { lu, chol, qr };

/// How a factorization is run. All that is 0 or empty is chosen.
struct message_settings {
  linalg::index_t n = 1024;
  linalg::index_t block = 0;
  int cores = 48;
  std::string policy = "polling";  ///< how cores wait, by creek::power's names
  bool check = true;               ///< compute the residual
  std::uint64_t matrix_seed = 1;
  linalg::rank_options ranks;
  std::uint32_t chunks_in_flight = 2;  ///< chunks in flight per message: 2 is pipelined
  std::size_t buffer_bytes = 4096;     ///< bytes of each core's message-passing memory
};

/// Results of a run. Energies are simulated and cover the whole chip; the parts of a core's time
/// are sums over the cores that take part.
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

/// Runs one, and finds the residual outside of virtual time. Throws usage_error for settings that
/// are not possible. Matrices are uniform, for Cholesky positive definite.
[[nodiscard]] message_run run_messages(message_problem what, const message_settings& chosen,
                                       scc_backend::machine_options on);

/// The block that run_messages() takes for 0.
[[nodiscard]] linalg::index_t message_block(linalg::index_t n, int cores);

/// `creek bench scc-linalg-messages`.
void add_scc_linalg_messages(command_line::command& bench);

}  // namespace creek::tool
