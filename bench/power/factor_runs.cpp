// SPDX-License-Identifier: Apache-2.0
#include "factor_runs.hpp"

#include <chrono>
#include <span>
#include <stdexcept>
#include <vector>

#include <creek/core/clock.hpp>
#include <creek/linalg.hpp>

#include "policy_runtime.hpp"

namespace bench::power {

namespace {

using creek::linalg::index_t;
using creek::linalg::matrix;

double task_seconds(const creek::linalg::graph_report& report) {
  creek::ticks sum;
  for (const auto& each : report.runs) sum = sum + (each.end - each.start);
  return std::chrono::duration<double>(creek::tick_clock::to_nanoseconds(sum)).count();
}

}  // namespace

factor_run factor(const std::string& policy, unsigned workers, std::int64_t n) {
  const auto original = creek::linalg::generate<double>({}, n, n);
  matrix<double> lu = original;
  std::vector<index_t> pivots(static_cast<std::size_t>(n));
  policy_runtime on(policy, workers);
  on.get().run([&] {
    creek::linalg::lu<double>(creek::linalg::generate<double>({}, 500, 500));
  });
  creek::linalg::graph_report report;
  factor_run made;
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  on.get().run(
      [&] { creek::linalg::getrf(lu.view(), std::span(pivots), {.block = 0, .report = &report}); });
  made.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  made.cpu = cpu_seconds() - cpu;
  made.tasks = task_seconds(report);
  const double residual = creek::linalg::lu_residual<double>(original.view(), lu.view(), pivots);
  if (!creek::linalg::passes(residual)) throw std::runtime_error("the factors are wrong");
  return made;
}

}  // namespace bench::power
