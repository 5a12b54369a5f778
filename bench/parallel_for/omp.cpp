// SPDX-License-Identifier: Apache-2.0
// Loops on OpenMP, schedule(static): the usual way, with the least overhead. The streaming loops
// are simd loops, so that the latency of the sum's additions is not measured.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::parallel_for {
namespace {

sample measure_axpy(const settings& s) {
  return run_axpy(s, [&](std::int64_t n, const double* x, double* y) {
#pragma omp parallel for simd schedule(static) num_threads(s.workers)
    for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
  });
}

const registration with_axpy{axpy, measure_axpy};

sample measure_sum(const settings& s) {
  return run_sum(s, [&](std::int64_t n, const double* x) {
    double total = 0;
#pragma omp parallel for simd schedule(static) num_threads(s.workers) reduction(+ : total)
    for (std::int64_t i = 0; i < n; ++i) total += x[i];
    return total;
  });
}

const registration with_sum{sum, measure_sum};

sample measure_loops(const settings& s) {
  return run_loops(s, [&](std::int64_t n, const auto& body) {
#pragma omp parallel for schedule(static) num_threads(s.workers)
    for (std::int64_t i = 0; i < n; ++i) body(i);
  });
}

const registration with_loops{loop_20us, measure_loops};

}  // namespace
}  // namespace bench::parallel_for
