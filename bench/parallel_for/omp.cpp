// SPDX-License-Identifier: Apache-2.0
// Loops on OpenMP, schedule(static): the usual way, and the least overhead.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::parallel_for {
namespace {

const registration with_axpy{axpy, [](const settings& s) {
                               return run_axpy(s, [&](std::int64_t n, const double* x, double* y) {
#pragma omp parallel for schedule(static) num_threads(s.workers)
                                 for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
                               });
                             }};

const registration with_sum{sum, [](const settings& s) {
                              return run_sum(s, [&](std::int64_t n, const double* x) {
                                double total = 0;
#pragma omp parallel for schedule(static) num_threads(s.workers) reduction(+ : total)
                                for (std::int64_t i = 0; i < n; ++i) total += x[i];
                                return total;
                              });
                            }};

const registration with_loops{loop_20us, [](const settings& s) {
                                return run_loops(s, [&](std::int64_t n, const auto& body) {
#pragma omp parallel for schedule(static) num_threads(s.workers)
                                  for (std::int64_t i = 0; i < n; ++i) body(i);
                                });
                              }};

}  // namespace
}  // namespace bench::parallel_for
