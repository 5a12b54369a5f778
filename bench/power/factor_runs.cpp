// SPDX-License-Identifier: Apache-2.0
#include "factor_runs.hpp"

#include <chrono>
#include <span>
#include <stdexcept>
#include <vector>

#include <creek/linalg.hpp>

#include "policy_runtime.hpp"

namespace bench::power {

namespace {

using creek::linalg::index_t;
using creek::linalg::matrix;

}  // namespace

factor_run factor(const std::string& policy, unsigned workers, std::int64_t n) {
  const auto original = creek::linalg::generate<double>({}, n, n);
  matrix<double> lu = original;
  std::vector<index_t> pivots(static_cast<std::size_t>(n));
  policy_runtime on(policy, workers);
  on.get().run([&] { creek::linalg::lu<double>(creek::linalg::generate<double>({}, 500, 500)); });
  factor_run made;
  // A worker reads it: the thread outside may have to wait for a processor while workers poll.
  on.get().run([&] {
    const double cpu = on.cpu_seconds(), idle = on.idle_cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    creek::linalg::getrf(lu.view(), std::span(pivots));
    made.wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    made.cpu = on.cpu_seconds() - cpu;
    made.idle = on.idle_cpu_seconds() - idle;
  });
  const double residual = creek::linalg::lu_residual<double>(original.view(), lu.view(), pivots);
  if (!creek::linalg::passes(residual)) throw std::runtime_error("the factors are wrong");
  return made;
}

}  // namespace bench::power
