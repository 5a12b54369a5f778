// SPDX-License-Identifier: Apache-2.0
// std::sort.
#include <algorithm>

#include "config.hpp"

namespace bench::sort_records {
namespace {

const registration registered{what, [](const settings& s) {
                                return timed_sort(s, [](std::vector<key_value>& records) {
                                  std::sort(records.begin(), records.end(), before);
                                });
                              }};

}  // namespace
}  // namespace bench::sort_records
