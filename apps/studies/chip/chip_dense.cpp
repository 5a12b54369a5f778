// SPDX-License-Identifier: Apache-2.0
#include "chip_dense.hpp"

#include <algorithm>
#include <creek/core/energy.hpp>
#include <creek/core/error.hpp>
#include <creek/linalg/by_blocks.hpp>
#include <creek/linalg/generate.hpp>
#include <creek/linalg/lu.hpp>
#include <creek/linalg/residual.hpp>
#include <creek/linalg/tile_qr.hpp>
#include <creek/power/policies.hpp>
#include <creek/tasking.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scc_messages.hpp"

namespace creek::tool {
namespace {

using linalg::index_t;
using linalg::matrix;

/// Capacity of a worker's deque: more tasks than a worker spawns at once for a graph.
constexpr std::uint32_t deque_capacity = 24;

/// A factorization in shared memory: its tasks, and the check of its answer.
class chip_factorization {
 public:
  virtual ~chip_factorization() = default;
  virtual index_t run(linalg::graph_report& graph) = 0;
  virtual work_graph plan() = 0;
  virtual double residual() = 0;
};

class chip_lu final : public chip_factorization {
 public:
  explicit chip_lu(const chip_dense_problem& given)
      : block_(given.block),
        original_(linalg::generate<double>({.seed = given.seed}, given.n, given.n)),
        factors_(original_),
        pivots_(static_cast<std::size_t>(given.n)) {}
  index_t run(linalg::graph_report& graph) override {
    return linalg::getrf<double>(
        factors_.view(), std::span<index_t>(pivots_),
        {.block = block_, .report = &graph, .updates = linalg::update_tasks::blocks});
  }
  work_graph plan() override { return linalg::getrf_plan<double>(factors_.view(), block_); }
  double residual() override {
    return linalg::lu_residual<double>(original_.view(), std::as_const(factors_).view(),
                                       std::span<const index_t>(pivots_));
  }

 private:
  index_t block_;
  const matrix<double> original_;
  matrix<double> factors_;
  std::vector<index_t> pivots_;
};

linalg::tile_matrix<double> in_tiles(const matrix<double>& from, index_t block) {
  return linalg::tile_matrix<double>(from.view(), block);
}

matrix<double> from_tiles(const linalg::tile_matrix<double>& tiles) {
  matrix<double> columns(tiles.rows(), tiles.cols());
  tiles.copy_to(columns);
  return columns;
}

class chip_cholesky final : public chip_factorization {
 public:
  explicit chip_cholesky(const chip_dense_problem& given)
      : original_(linalg::generate<double>(
            {.kind = linalg::matrix_kind::positive_definite, .seed = given.seed}, given.n,
            given.n)),
        tiles_(in_tiles(original_, given.block)) {}
  index_t run(linalg::graph_report& report) override {
    linalg::graph_info info;
    linalg::task_graph graph({.record = true});
    linalg::potrf(graph, linalg::triangle::lower, tiles_.view(), info);
    report = graph.wait();
    return info.value();
  }
  work_graph plan() override {
    linalg::graph_info info;
    linalg::task_graph graph({.dry_run = true});
    linalg::potrf(graph, linalg::triangle::lower, tiles_.view(), info);
    (void)graph.wait();
    return graph.plan();
  }
  double residual() override {
    const matrix<double> factor = from_tiles(tiles_);
    return linalg::cholesky_residual<double>(linalg::triangle::lower, original_.view(),
                                             factor.view());
  }

 private:
  const matrix<double> original_;
  linalg::tile_matrix<double> tiles_;
};

class chip_qr final : public chip_factorization {
 public:
  explicit chip_qr(const chip_dense_problem& given)
      : block_(given.block),
        original_(linalg::generate<double>({.seed = given.seed}, given.n, given.n)) {}
  index_t run(linalg::graph_report& report) override {
    linalg::task_graph graph({.record = true});
    factors_.emplace(graph, in_tiles(original_, block_));
    report = graph.wait();
    return 0;
  }
  work_graph plan() override {
    linalg::task_graph graph({.dry_run = true});
    const linalg::tile_qr<double> planned(graph, in_tiles(original_, block_));
    (void)graph.wait();
    return graph.plan();
  }
  double residual() override {
    const linalg::orthogonal_operator<double> q =
        [this](linalg::op how, linalg::matrix_view<double> x) { factors_->apply_q(how, x); };
    const matrix<double> r = from_tiles(factors_->factors());
    return std::max(linalg::qr_residual<double>(original_.view(), q, r.view()),
                    linalg::orthogonality<double>(original_.rows(), q));
  }

 private:
  index_t block_;
  const matrix<double> original_;
  std::optional<linalg::tile_qr<double>> factors_;
};

std::unique_ptr<chip_factorization> make_factorization(const chip_dense_problem& given) {
  switch (given.how) {
    case dense::method::lu:
      return std::make_unique<chip_lu>(given);
    case dense::method::chol:
      return std::make_unique<chip_cholesky>(given);
    case dense::method::qr:
      break;
  }
  return std::make_unique<chip_qr>(given);
}

std::shared_ptr<power_policy> policy_for(const chip_dense_problem& given,
                                         chip_factorization& work) {
  power::policy_options options;
  options.watts = given.watts;
  options.bound = given.bound;
  if (given.policy == "slack_reduction") {
    options.plan = work.plan();
    if (given.before != nullptr) {
      options.plan = linalg::measured(std::move(options.plan), given.before->runs);
    }
  }
  return power::make_policy(given.policy, options);
}

void require_sense(const chip_dense_problem& given) {
  if (given.n < 1) throw usage_error("--backend scc: -n N is required: the size of the matrix");
  if (given.by_messages) return;  // run_messages() checks the rest
  require_chip_memory(given.how, given.n);
  if (given.block < std::min<long long>(8, given.n) || given.block > given.n) {
    throw usage_error("--block must be between 8 and n = " + std::to_string(given.n) + ", got " +
                      std::to_string(given.block));
  }
}

chip_dense_run run_by_messages(const chip_dense_problem& given) {
  message_settings chosen;
  chosen.n = given.n;
  chosen.block = given.block;
  chosen.cores = static_cast<int>(given.cores);
  chosen.policy = given.policy;
  chosen.matrix_seed = given.seed;
  chosen.check = given.check;
  const message_run run = run_messages(static_cast<message_problem>(given.how), chosen, given.on);
  chip_dense_run found;
  found.time = run.time.in_seconds();
  found.energy = run.energy;
  found.info = run.info;
  found.checked = given.check && run.info == 0;
  found.residual = run.residual;
  found.report.ended = run.time;
  found.report.energy = run.energy;
  found.report.faults = run.report.faults;
  return found;
}

}  // namespace

void require_chip_memory(dense::method how, long long n) {
  dense::problem held;
  held.command = dense::to_string(how);
  held.how = how;
  held.layout = dense::form::blocks;
  held.rows = held.cols = n;
  held.check = true;
  dense::require_memory(held);
}

std::string spelt_policy(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

chip_dense_run run_on_chip(const chip_dense_problem& given) {
  require_sense(given);
  if (given.by_messages) return run_by_messages(given);
  const std::unique_ptr<chip_factorization> work = make_factorization(given);
  chip_dense_run found;
  scc chosen{given.cores};
  chosen.machine = given.on;
  chosen.machine.seed = 0;  // the options hold the seed of the schedule
  if (given.on.seed != 0) chosen.options.seed = given.on.seed;
  chosen.options.deque_capacity = deque_capacity;
  chosen.options.policy = policy_for(given, *work);
  chosen.report = &found.report;
  {
    runtime rt{chosen};
    rt.run([&] {
      const metered_energy before = backend_meter::current()->read();
      found.info = work->run(found.graph);
      const metered_energy after = backend_meter::current()->read();
      found.time = after.time - before.time;
      found.energy = after.energy - before.energy;
    });
    rt.shut_down();  // throws if the trace cannot be written
  }
  if (given.check && found.info == 0) {
    found.residual = work->residual();
    found.checked = true;
  }
  return found;
}

}  // namespace creek::tool
