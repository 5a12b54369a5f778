// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_sort.
#include <oneapi/tbb/parallel_sort.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::sort_records {
namespace {

sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    result = timed_sort(s, [](std::vector<key_value>& records) {
      tbb::parallel_sort(records.begin(), records.end(), before);
    });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::sort_records
