// SPDX-License-Identifier: Apache-2.0
// Loops on creek: parallel_for and parallel_reduce with the default grain.
#include <creek/tasking/parallel_for.hpp>
#include <creek/tasking/parallel_reduce.hpp>
#include <functional>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::parallel_for {
namespace {

sample measure_axpy(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run_axpy(s, [](std::int64_t n, const double* x, double* y) {
      creek::parallel_for(std::int64_t{0}, n, [=](std::int64_t i) { y[i] += factor * x[i]; });
    });
  });
  return result;
}

const registration with_axpy{axpy, measure_axpy};

sample measure_sum(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run_sum(s, [](std::int64_t n, const double* x) {
      return creek::parallel_reduce(x, x + n, 0.0, std::plus{});
    });
  });
  return result;
}

const registration with_sum{sum, measure_sum};

sample measure_loops(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run_loops(
        s, [](std::int64_t n, const auto& body) { creek::parallel_for(std::int64_t{0}, n, body); });
  });
  return result;
}

const registration with_loops{loop_20us, measure_loops};

}  // namespace
}  // namespace bench::parallel_for
