// SPDX-License-Identifier: Apache-2.0
// libstdc++'s parallel mode, which is based on OpenMP.
#include <omp.h>

#include <parallel/algorithm>

#include "config.hpp"

namespace bench::sort_records {
namespace {

sample measure(const settings& s) {
  omp_set_num_threads(static_cast<int>(s.workers));
  return timed_sort(s, [](std::vector<key_value>& records) {
    __gnu_parallel::sort(records.begin(), records.end(), before);
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::sort_records
