// SPDX-License-Identifier: Apache-2.0
#include "scc_messages.hpp"

#include <creek/core/error.hpp>
#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/generate.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/qr.hpp>
#include <creek/linalg/residual.hpp>
#include <creek/power/policies.hpp>

#include "chip_dense.hpp"

namespace creek::tool {
namespace {

using namespace linalg;

using wide_matrix = matrix<double>;

/// Results of the ranks, which share the host's memory; each rank adds its own part.
struct factors {
  wide_matrix matrix;
  std::vector<index_t> pivots;
  std::vector<double> tau;
  index_t info = 0;
};

wide_matrix matrix_for(message_problem what, const message_settings& chosen) {
  const auto kind =
      what == message_problem::chol ? matrix_kind::positive_definite : matrix_kind::uniform;
  return generate<double>({.kind = kind, .seed = chosen.matrix_seed}, chosen.n, chosen.n);
}

/// Runs one rank; its columns are in place when time begins.
void factor(scc_communicator& c, message_problem what, const rank_options& options, index_t block,
            const wide_matrix& whole, factors& out) {
  rank_columns<double> mine(whole.rows(), whole.cols(), block, c.rank(), c.size());
  mine.take_from(whole.view());
  std::vector<index_t> pivots(static_cast<std::size_t>(whole.rows()));
  std::vector<double> tau(pivots.size());
  index_t info = 0;
  if (what == message_problem::lu) {
    info = getrf_on_ranks(c, mine, std::span<index_t>(pivots), options);
  } else if (what == message_problem::chol) {
    info = potrf_on_ranks(c, mine, options);
  } else {
    geqrf_on_ranks(c, mine, std::span<double>(tau), options);
  }
  for (index_t j = mine.own_from(0); j < mine.blocks(); j += c.size()) {
    copy<double>(std::as_const(mine).columns(j),
                 out.matrix.view().columns(mine.first_column(j), mine.width(j)));
  }
  if (c.rank() != 0) return;
  out.pivots = std::move(pivots);
  out.tau = std::move(tau);
  out.info = info;
}

double residual_of(message_problem what, const wide_matrix& a, const factors& found) {
  if (what == message_problem::lu) {
    return lu_residual<double>(a.view(), found.matrix.view(), found.pivots);
  }
  if (what == message_problem::chol) {
    return cholesky_residual<double>(triangle::lower, a.view(), found.matrix.view());
  }
  const orthogonal_operator<double> q = [&](op how, matrix_view<double> x) {
    ormqr<double>(side::left, how, found.matrix.view(), std::span<const double>(found.tau), x);
  };
  return qr_residual<double>(a.view(), q, found.matrix.view());
}

double flops_of(message_problem what, double n) {
  const double third = n * n * n / 3;
  return what == message_problem::chol ? third
         : what == message_problem::lu ? 2 * third
                                       : 4 * third;
}

void add_up(message_run& run, int cores) {
  const auto& used = run.report.usage.cores;
  for (int i = 0; i < cores; ++i) {
    const auto& core = used[static_cast<std::size_t>(i)];
    run.busy += core.busy.in_seconds();
    run.waiting += core.waiting.in_seconds();
    run.halted += (core.halted + core.finished).in_seconds();
  }
}

}  // namespace

index_t message_block(index_t n, int cores) {
  // Gives each core a few blocks, which proved best for LU on 48 cores at 1024 to 4096
  // (docs/scc/linalg-messages.md); wider blocks do not fit the caches.
  return std::clamp<index_t>((3 * n / (8 * std::max(cores, 1)) + 4) / 8 * 8, 8, 32);
}

message_run run_messages(message_problem what, const message_settings& chosen,
                         scc_backend::machine_options on) {
  if (chosen.n < 0) throw usage_error("the size of a matrix must not be negative");
  if (chosen.block < 0)
    throw usage_error("--block must not be negative; 0 chooses the columns per block");
  require_chip_memory(static_cast<dense::method>(what), chosen.n);
  if (chosen.chunks_in_flight < 1) throw usage_error("--chunks must be 1 or more");
  message_run run;
  run.block = chosen.block > 0 ? chosen.block : message_block(chosen.n, chosen.cores);
  if (chosen.policy == "slack_reduction" || chosen.policy == "slack-reduction") {
    throw usage_error(
        "slack_reduction needs a graph of tasks, and ranks have none: choose another policy, or "
        "shared memory");
  }
  if (chosen.policy == "power_cap" || chosen.policy == "power-cap") {
    throw usage_error(
        "power_cap also reduces the number of workers, and all ranks take part: choose another "
        "policy, or shared memory");
  }
  on.waits.policy = power::make_policy(chosen.policy, {.plan = {}});
  const wide_matrix a = matrix_for(what, chosen);
  factors found{wide_matrix(chosen.n, chosen.n), {}, {}, 0};
  communicator_options messages;
  messages.chunks_in_flight = chosen.chunks_in_flight;
  messages.buffer_bytes = chosen.buffer_bytes;
  messages.mailbox_lines = 1;
  run.report = simulate(
      chosen.cores,
      [&](scc_communicator& c) { factor(c, what, chosen.ranks, run.block, a, found); }, on,
      messages);
  run.time = run.report.length();
  run.energy = run.report.usage.total;
  run.flops = flops_of(what, static_cast<double>(chosen.n));
  run.info = found.info;
  if (chosen.check && found.info == 0 && chosen.n > 0) run.residual = residual_of(what, a, found);
  add_up(run, chosen.cores);
  return run;
}

}  // namespace creek::tool
