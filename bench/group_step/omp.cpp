// SPDX-License-Identifier: Apache-2.0
// A barrier of the team.
#include <omp.h>

#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::group_step {
namespace {

sample measure(const settings& s) {
  std::vector<counter> counters(s.workers);
  const auto step = [&](int thread) {
    counters[static_cast<std::size_t>(thread)].add();
#pragma omp barrier
  };
  sample result;
#pragma omp parallel num_threads(s.workers)
  {
    const int thread = omp_get_thread_num();
    if (thread == 0) {
      result = median_of_parts(s.n, [&] { step(0); });
    } else {
      for (std::int64_t i = 0; i < repeats(s.n); ++i) step(thread);
    }
  }
  result.answer = agreed(calls_of(counters));
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::group_step
