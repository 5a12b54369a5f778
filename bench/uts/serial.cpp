// SPDX-License-Identifier: Apache-2.0
// Serial tree search: plain recursion.
#include "config.hpp"

namespace bench::uts {
namespace {

std::uint64_t search(const node& at, std::int64_t limit) {
  std::uint64_t nodes = 1;
  const int count = children(at, limit);
  for (int i = 0; i < count; ++i) nodes += search(child(at, i), limit);
  return nodes;
}

sample measure(const settings& s) {
  sample result;
  result.total_ns = timed([&] { result.answer = search(root(), s.n); });
  result.work = static_cast<double>(result.answer);
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::uts
