// SPDX-License-Identifier: Apache-2.0
// creek::parallel_sort.
#include <creek/tasking/parallel_sort.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::parallel_sort {
namespace {

sample measure(const settings& s) {
  sample result;
  inside(s, [&] { result = run(s, [](auto& data) { creek::parallel_sort(data); }); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::parallel_sort
