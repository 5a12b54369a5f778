// SPDX-License-Identifier: Apache-2.0
// OpenMP has no sort of its own; libstdc++'s parallel mode is based on it (balanced quick sort,
// which unlike its multiway merge sort needs no second buffer).
#include <omp.h>

#include <parallel/algorithm>

#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::parallel_sort {
namespace {

sample measure(const settings& s) {
  omp_set_num_threads(static_cast<int>(s.workers));
  return run(s, [](auto& data) {
    __gnu_parallel::sort(data.begin(), data.end(), __gnu_parallel::default_parallel_tag(0));
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::parallel_sort
