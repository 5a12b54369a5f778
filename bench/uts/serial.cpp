// SPDX-License-Identifier: Apache-2.0
// Serial tree search: plain recursion.
#include "config.hpp"

namespace bench::uts {
namespace {

sample measure(const settings& s) {
  sample result;
  result.total_ns = timed([&] { result.answer = creek_bench::count_nodes(root(), s.n); });
  result.work = static_cast<double>(result.answer);
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::uts
