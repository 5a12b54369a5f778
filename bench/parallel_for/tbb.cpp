// SPDX-License-Identifier: Apache-2.0
// Loops on oneTBB, default partitioner.
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::parallel_for {
namespace {

using range = tbb::blocked_range<std::int64_t>;

sample measure_axpy(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run_axpy(s, [](std::int64_t n, const double* x, double* y) {
      tbb::parallel_for(range(0, n), [=](const range& r) {
        for (std::int64_t i = r.begin(); i < r.end(); ++i) y[i] += factor * x[i];
      });
    });
  });
  return result;
}

const registration with_axpy{axpy, measure_axpy};

sample measure_sum(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run_sum(s, [](std::int64_t n, const double* x) {
      return tbb::parallel_reduce(
          range(0, n), 0.0,
          [=](const range& r, double total) {
            for (std::int64_t i = r.begin(); i < r.end(); ++i) total += x[i];
            return total;
          },
          [](double a, double b) { return a + b; });
    });
  });
  return result;
}

const registration with_sum{sum, measure_sum};

sample measure_loops(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run_loops(
        s, [](std::int64_t n, const auto& body) { tbb::parallel_for(std::int64_t{0}, n, body); });
  });
  return result;
}

const registration with_loops{loop_20us, measure_loops};

}  // namespace
}  // namespace bench::parallel_for
