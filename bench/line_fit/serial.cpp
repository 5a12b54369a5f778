// SPDX-License-Identifier: Apache-2.0
// The plain loop.
#include "config.hpp"

namespace bench::line_fit {
namespace {

sample measure(const settings& s) {
  return timed_sums(input_of(s), [](auto data) {
    sums all{};
    add(data, all);
    return all;
  });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::line_fit
