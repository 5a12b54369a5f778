// SPDX-License-Identifier: Apache-2.0
// Skynet for each peer that forks two closures: the children of a node are split in halves.
#include "config.hpp"
#include BENCH_RUNTIME

namespace bench::skynet {
namespace {

std::uint64_t halved_node(std::uint64_t first, std::int64_t depth);

/// Returns the sum of the children `begin` to `end - 1` of the node whose leaves begin with `first`
/// and that has `step` of them per child.
std::uint64_t range(std::uint64_t first, std::uint64_t step, std::int64_t depth, std::size_t begin,
                    std::size_t end) {
  if (end - begin == 1) return halved_node(first + begin * step, depth - 1);
  const std::size_t middle = begin + (end - begin) / 2;
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  fork([&] { left = range(first, step, depth, begin, middle); },
       [&] { right = range(first, step, depth, middle, end); });
  return left + right;
}

std::uint64_t halved_node(std::uint64_t first, std::int64_t depth) {
  return depth == 0 ? first : range(first, leaves(depth - 1), depth, 0, children);
}

sample measure_halves(const settings& s) {
  sample result{.work = tasks(s)};
  inside(s, [&] { result.total_ns = timed([&] { result.answer = halved_node(0, s.n); }); });
  return result;
}

const registration with_halves{halves, measure_halves};

}  // namespace
}  // namespace bench::skynet
