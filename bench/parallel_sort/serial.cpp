// SPDX-License-Identifier: Apache-2.0
// Serial sort: std::sort.
#include <algorithm>

#include "config.hpp"

namespace bench::parallel_sort {
namespace {

sample measure(const settings& s) {
  return run(s, [](auto& data) { std::sort(data.begin(), data.end()); });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::parallel_sort
