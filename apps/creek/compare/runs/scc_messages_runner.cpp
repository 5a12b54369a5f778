// SPDX-License-Identifier: Apache-2.0
// Runs a factorization on cores of the simulated chip, each of which holds some columns of the
// matrix in its own memory; the cores send each other panels.
#include "chip_run.hpp"

#include <fmt/format.h>

#include <creek/linalg/ranks.hpp>
#include <creek/scc/spmd.hpp>
#include <creek/tasking/runtime.hpp>

#include "dense/jobs/jobs.hpp"
#include "host_work.hpp"

namespace creek::tool::compare {
namespace {

using linalg::index_t;
using linalg::matrix;
using linalg::rank_columns;

/// Factorization of the matrix, assembled from the ranks' parts.
struct factored {
  matrix<double> factors;
  std::vector<index_t> pivots;
  std::vector<double> tau;
  index_t info = 0;
};

class messages_runner final : public runner {
 public:
  messages_runner(const setup& given, long long n)
      : given_(given),
        machine_(chip_options_of(given)),
        workers_(chip_workers(given, machine_)),
        facts_(chip_facts(machine_, workers_)),
        what_(dense_problem(given, n)),
        whole_(what_.rows, what_.cols) {
    host_.run([this] { dense::generated_matrix<double>(what_).put(whole_.view()); });
  }

  const backend_facts& facts() const noexcept override { return facts_; }
  std::string about() const override {
    return fmt::format(
        "{} {} x {} double, {}, block {}, columns in private memory, sent in messages",
        what_.command, what_.rows, what_.cols, what_.matrix_source, what_.block);
  }

  measured_run run(const run_request& what) override {
    scc_backend::machine_options on = machine_;
    on.trace_file = what.trace;
    on.records_may_be = atomic_file::targets::regular;  // the tool chose the name
    chip_sampler sampler;
    on.waits.policy = chip_policy(given_, what.policy, {});
    if (what.sampled) {
      on.waits.policy = std::make_shared<watched_policy>(on.waits.policy, &sampler);
    }
    factored result;
    std::vector<rank_columns<double>> parts(workers_);
    const scc_backend::run_report report = creek::simulate(
        static_cast<int>(workers_),
        [&](scc_communicator& ranks) {
          if (what.sampled && ranks.rank() == 0) sampler.start();
          factor(ranks, parts, result);
          if (what.sampled && ranks.rank() == 0) sampler.stop();
        },
        on);
    measured_run got = noted(report);
    if (what.sampled) got.power = sampler.take_energy();
    gather(parts, result);
    got.wrong = host_.run([&] { return judge(result); });
    return got;
  }

 private:
  void factor(scc_communicator& ranks, std::vector<rank_columns<double>>& parts,
              factored& result) const {
    rank_columns<double>& mine = parts[static_cast<std::size_t>(ranks.rank())];
    mine = rank_columns<double>(what_.rows, what_.cols, what_.block, ranks.rank(), ranks.size());
    mine.take_from(std::as_const(whole_).view());
    std::vector<index_t> pivots(static_cast<std::size_t>(what_.rows));
    std::vector<double> tau(pivots.size());
    index_t info = 0;
    switch (what_.how) {
      case dense::method::lu:
        info = linalg::getrf_on_ranks<scc_communicator, double>(ranks, mine, pivots);
        break;
      case dense::method::chol:
        info = linalg::potrf_on_ranks<scc_communicator, double>(ranks, mine);
        break;
      case dense::method::qr:
        linalg::geqrf_on_ranks<scc_communicator, double>(ranks, mine, tau);
    }
    if (ranks.rank() != 0) return;  // the results are equal on all ranks
    result.pivots = std::move(pivots);
    result.tau = std::move(tau);
    result.info = info;
  }

  measured_run noted(const scc_backend::run_report& report) const {
    measured_run got;
    got.seconds = report.length().in_seconds().value;
    got.joules = report.usage.total.value;
    got.origin = energy_origin::by_backend;
    got.source = "simulation";
    double busy = 0;
    for (std::size_t i = 0; i < workers_; ++i) {
      busy += report.usage.cores[i].busy.in_seconds().value;
    }
    note_awake(report.usage, workers_, busy, got);
    return got;
  }

  static void gather(const std::vector<rank_columns<double>>& parts, factored& into) {
    const rank_columns<double>& first = parts.front();
    into.factors = matrix<double>(first.rows(), first.cols());
    for (index_t j = 0; j < first.blocks(); ++j) {
      linalg::copy<double>(parts[static_cast<std::size_t>(first.owner(j))].columns(j),
                           into.factors.view().columns(first.first_column(j), first.width(j)));
    }
  }

  std::vector<dense::judgement> judgements_of(const factored& result) const {
    const auto A = whole_.view(), F = result.factors.view();
    if (what_.how == dense::method::lu) {
      return {{"", linalg::lu_residual<double>(A, F, result.pivots), linalg::lapack_threshold}};
    }
    if (what_.how == dense::method::chol) {
      return {{"", linalg::cholesky_residual<double>(linalg::triangle::lower, A, F),
               linalg::lapack_threshold}};
    }
    const linalg::orthogonal_operator<double> q = [&](linalg::op how,
                                                      linalg::matrix_view<double> x) {
      linalg::ormqr<double>(linalg::side::left, how, F, result.tau, x);
    };
    return dense::judge_qr<double>(A, q, F);
  }

  std::string judge(const factored& result) const {
    return what_is_wrong(result.info, judgements_of(result));
  }

  setup given_;
  scc_backend::machine_options machine_;
  unsigned workers_;
  backend_facts facts_;
  runtime host_{scheduler_options{}, "host"};
  dense::problem what_;
  matrix<double> whole_;
};

}  // namespace

std::unique_ptr<runner> make_messages_runner(const setup& given, long long n) {
  return std::make_unique<messages_runner>(given, n);
}

}  // namespace creek::tool::compare
