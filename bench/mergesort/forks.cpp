// SPDX-License-Identifier: Apache-2.0
// The merge sort for each peer that forks.
#include "config.hpp"
#include BENCH_RUNTIME

namespace bench::mergesort {
namespace {

sample measure(const settings& s) {
  return run(
      s, [](const settings& with, auto&& f) { inside(with, f); }, fork);
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::mergesort
