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

matrix<double> matrix_for(dense::method how, const message_settings& chosen) {
  const auto kind =
      how == dense::method::chol ? matrix_kind::positive_definite : matrix_kind::uniform;
  return generate<double>({.kind = kind, .seed = chosen.matrix_seed}, chosen.n, chosen.n);
}

double flops_of(dense::method how, double n) {
  const double third = n * n * n / 3;
  return how == dense::method::chol ? third : how == dense::method::lu ? 2 * third : 4 * third;
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

void factor_on_ranks(scc_communicator& ranks, dense::method how, const rank_options& options,
                     index_t block, const matrix<double>& whole, rank_factors& out) {
  rank_columns<double> mine(whole.rows(), whole.cols(), block, ranks.rank(), ranks.size());
  mine.take_from(whole.view());
  std::vector<index_t> pivots(static_cast<std::size_t>(whole.rows()));
  std::vector<double> tau(pivots.size());
  index_t info = 0;
  if (how == dense::method::lu) {
    info = getrf_on_ranks(ranks, mine, std::span<index_t>(pivots), options);
  } else if (how == dense::method::chol) {
    info = potrf_on_ranks(ranks, mine, options);
  } else {
    geqrf_on_ranks(ranks, mine, std::span<double>(tau), options);
  }
  for (index_t j = mine.own_from(0); j < mine.blocks(); j += ranks.size()) {
    copy<double>(std::as_const(mine).columns(j),
                 out.matrix.view().columns(mine.first_column(j), mine.width(j)));
  }
  if (ranks.rank() != 0) return;  // the other results are equal on all ranks
  out.pivots = std::move(pivots);
  out.tau = std::move(tau);
  out.info = info;
}

std::vector<dense::judgement> judge_factors(dense::method how, const matrix<double>& a,
                                            const rank_factors& found) {
  const auto A = a.view(), F = found.matrix.view();
  if (how == dense::method::lu) {
    return {{"", lu_residual<double>(A, F, found.pivots), lapack_threshold}};
  }
  if (how == dense::method::chol) {
    return {{"", cholesky_residual<double>(triangle::lower, A, F), lapack_threshold}};
  }
  const orthogonal_operator<double> q = [&](op by, matrix_view<double> x) {
    ormqr<double>(side::left, by, F, std::span<const double>(found.tau), x);
  };
  return {{"", qr_residual<double>(A, q, F), lapack_threshold},
          {"", orthogonality<double>(A.rows(), q), lapack_threshold}};
}

message_run run_messages(dense::method how, const message_settings& chosen,
                         scc_backend::machine_options on) {
  if (chosen.n < 0) throw usage_error("the size of a matrix must not be negative");
  if (chosen.block < 0)
    throw usage_error("--block must not be negative; 0 chooses the columns per block");
  require_chip_memory(how, chosen.n);
  if (chosen.chunks_in_flight < 1) throw usage_error("--chunks must be 1 or more");
  message_run run;
  run.block = chosen.block > 0 ? chosen.block : message_block(chosen.n, chosen.cores);
  if (spelt_policy(chosen.policy) == "slack_reduction") {
    throw usage_error(
        "slack_reduction needs a graph of tasks, and ranks have none: choose another policy, or "
        "shared memory");
  }
  if (spelt_policy(chosen.policy) == "power_cap") {
    throw usage_error(
        "power_cap also reduces the number of workers, and all ranks take part: choose another "
        "policy, or shared memory");
  }
  on.waits.policy = power::make_policy(chosen.policy, {.plan = {}});
  const matrix<double> a = matrix_for(how, chosen);
  rank_factors found{matrix<double>(chosen.n, chosen.n), {}, {}, 0};
  communicator_options messages;
  messages.chunks_in_flight = chosen.chunks_in_flight;
  messages.buffer_bytes = chosen.buffer_bytes;
  messages.mailbox_lines = 1;
  run.report = simulate(
      chosen.cores,
      [&](scc_communicator& c) { factor_on_ranks(c, how, chosen.ranks, run.block, a, found); }, on,
      messages);
  run.time = run.report.length();
  run.energy = run.report.usage.total;
  run.flops = flops_of(how, static_cast<double>(chosen.n));
  run.info = found.info;
  if (chosen.check && found.info == 0 && chosen.n > 0) {
    run.residual = judge_factors(how, a, found).front().value;
  }
  add_up(run, chosen.cores);
  return run;
}

}  // namespace creek::tool
