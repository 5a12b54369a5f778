// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_sort.
#include <oneapi/tbb/parallel_sort.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::parallel_sort {
namespace {

sample measure(const settings& s) {
  sample result;
  inside(s, [&] {
    result = run(s, [](auto& data) { tbb::parallel_sort(data.begin(), data.end()); });
  });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::parallel_sort
