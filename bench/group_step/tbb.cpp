// SPDX-License-Identifier: Apache-2.0
// oneTBB has no barrier: a parallel_for with one iteration per worker, partitioned statically. It
// does not guarantee that different workers run the iterations.
#include <oneapi/tbb/parallel_for.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::group_step {
namespace {

sample measure(const settings& s) {
  std::vector<counter> counters(s.workers);
  sample result;
  inside(s, [&] {
    result = median_of_parts(s.n, [&] {
      tbb::parallel_for(
          std::size_t{0}, counters.size(), [&](std::size_t i) { counters[i].add(); },
          tbb::static_partitioner{});
    });
  });
  result.answer = agreed(calls_of(counters));
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::group_step
