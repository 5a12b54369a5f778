// SPDX-License-Identifier: Apache-2.0
// oneTBB after a loop that all workers took part in.
#include <oneapi/tbb/parallel_for.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::idle {
namespace {

sample measure(const settings& s) {
  return run(
      s, [&] { inside(s, [&] { tbb::parallel_for(0, 1000, [&](int) { busy(s.grain, 1); }); }); });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::idle
