// SPDX-License-Identifier: Apache-2.0
// The matrix multiply for each peer that forks.
#include "config.hpp"
#include BENCH_RUNTIME

namespace bench::matmul {
namespace {

sample measure(const settings& s) {
  return run(
      s, [](const settings& with, auto&& f) { inside(with, f); }, fork);
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::matmul
