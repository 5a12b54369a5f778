// SPDX-License-Identifier: Apache-2.0
// creek after a loop that all workers took part in.
#include <creek/tasking/parallel_for.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::idle {
namespace {

sample measure(const settings& s) {
  return run(
      s, [&] { inside(s, [&] { creek::parallel_for(0, 1000, [&](int) { busy(s.grain, 1); }); }); });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::idle
