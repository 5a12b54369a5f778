// SPDX-License-Identifier: Apache-2.0
// Skynet on oneTBB: a task_group per node, which is also its call for many children.
#include <oneapi/tbb/task_group.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::skynet {
namespace {

std::uint64_t node(std::uint64_t first, std::int64_t depth) {
  if (depth == 0) return first;
  const std::uint64_t step = leaves(depth - 1);
  results below;
  tbb::task_group tasks;
  for (std::size_t i = 0; i < children; ++i) {
    tasks.run([=, slot = &below[i]] { *slot = node(first + i * step, depth - 1); });
  }
  tasks.wait();
  return sum(below);
}

sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  inside(s, [&] { result.total_ns = timed([&] { result.answer = node(0, s.n); }); });
  return result;
}

const registration with_calls{what, measure};
const registration with_group{group, measure};

}  // namespace
}  // namespace bench::skynet
