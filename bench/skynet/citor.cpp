// SPDX-License-Identifier: Apache-2.0
// Skynet on citor: forkJoinAll.
#include "config.hpp"
#include "harness/citor_runtime.hpp"

namespace bench::skynet {
namespace {

std::uint64_t node(citor::ThreadPool& pool, std::uint64_t first, std::int64_t depth) {
  if (depth == 0) return first;
  const std::uint64_t step = leaves(depth - 1);
  results below;
  pool.forkJoinAll<citor_hints>(
      children, [&](std::size_t i) { below[i] = node(pool, first + i * step, depth - 1); });
  return sum(below);
}

sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  inside(s, [&] { result.total_ns = timed([&] { result.answer = node(*citor_pool, 0, s.n); }); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::skynet
