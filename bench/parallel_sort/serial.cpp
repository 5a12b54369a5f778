// SPDX-License-Identifier: Apache-2.0
// Serial sort: std::sort.
#include <algorithm>

#include "config.hpp"

namespace bench::parallel_sort {
namespace {

const registration registered{what, [](const settings& s) {
                                return run(s,
                                           [](auto& data) { std::sort(data.begin(), data.end()); });
                              }};

}  // namespace
}  // namespace bench::parallel_sort
