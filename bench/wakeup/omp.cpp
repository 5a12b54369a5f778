// SPDX-License-Identifier: Apache-2.0
// A parallel region of the caller and one more thread: the time until the other thread is in it.
// The runtimes are told not to spin (see omp_runtime.cpp), or no thread would be asleep.
#include <omp.h>

#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::wakeup {
namespace {

sample measure(const settings& s) {
  return run(s, [&](auto started) {
#pragma omp parallel num_threads(s.workers + 1)
    if (omp_get_thread_num() == 1) started();
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::wakeup
