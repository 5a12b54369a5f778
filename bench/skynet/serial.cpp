// SPDX-License-Identifier: Apache-2.0
// Serial skynet: plain recursion.
#include "config.hpp"

namespace bench::skynet {
namespace {

std::uint64_t node(std::uint64_t first, std::int64_t depth) {
  if (depth == 0) return first;
  const std::uint64_t step = leaves(depth - 1);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < children; ++i) total += node(first + i * step, depth - 1);
  return total;
}

sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  result.total_ns = timed([&] { result.answer = node(0, s.n); });
  return result;
}

const registration with_calls{what, measure};
const registration with_group{group, measure};

}  // namespace
}  // namespace bench::skynet
