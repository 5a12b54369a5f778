// SPDX-License-Identifier: Apache-2.0
// Serial loops.
#include "config.hpp"

namespace bench::parallel_for {
namespace {

sample measure_axpy(const settings& s) {
  return run_axpy(s, [](std::int64_t n, const double* x, double* y) {
    for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
  });
}

const registration with_axpy{axpy, measure_axpy};

sample measure_sum(const settings& s) {
  return run_sum(s, [](std::int64_t n, const double* x) {
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += x[i];
    return total;
  });
}

const registration with_sum{sum, measure_sum};

sample measure_loops(const settings& s) {
  return run_loops(s, [](std::int64_t n, const auto& body) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
  });
}

const registration with_loops{loop_20us, measure_loops};

}  // namespace
}  // namespace bench::parallel_for
