// SPDX-License-Identifier: Apache-2.0
// An OpenMP task, answered by a thread that waits at the end of the region.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::round_trip {
namespace {

sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run(s, [](mailbox& box) {
#pragma omp task shared(box)
      box.answer();
      const bool answered = box.wait();
#pragma omp taskwait
      return answered;
    });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::round_trip
