// SPDX-License-Identifier: Apache-2.0
// OpenMP after a loop that all threads took part in, waiting as the library does by default.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::idle {
namespace {

sample measure(const settings& s) {
  return run(s, [&] {
#pragma omp parallel for num_threads(s.workers)
    for (int i = 0; i < 1000; ++i) busy(s.grain, 1);
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::idle
