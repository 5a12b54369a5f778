// SPDX-License-Identifier: Apache-2.0
// creek::parallel_sort with a comparison of the user's.
#include <creek/tasking/parallel_sort.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::sort_records {
namespace {

sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    result = timed_sort(
        s, [](std::vector<key_value>& records) { creek::parallel_sort(records, before); });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::sort_records
