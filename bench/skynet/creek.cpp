// SPDX-License-Identifier: Apache-2.0
// Skynet on creek: fork_all, and a task_group per node.
#include <creek/tasking.hpp>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::skynet {
namespace {

std::uint64_t by_fork_all(std::uint64_t first, std::int64_t depth) {
  if (depth == 0) return first;
  const std::uint64_t step = leaves(depth - 1);
  return sum(creek::fork_all<children>(
      [&](std::size_t i) { return by_fork_all(first + i * step, depth - 1); }));
}

std::uint64_t by_group(std::uint64_t first, std::int64_t depth) {
  if (depth == 0) return first;
  const std::uint64_t step = leaves(depth - 1);
  results below;
  creek::task_group tasks;
  for (std::size_t i = 0; i < children; ++i) {
    tasks.spawn([=, slot = &below[i]] { *slot = by_group(first + i * step, depth - 1); });
  }
  tasks.wait();
  return sum(below);
}

template <auto Node>
sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  inside(s, [&] { result.total_ns = timed([&] { result.answer = Node(0, s.n); }); });
  return result;
}

const registration with_calls{what, measure<by_fork_all>};
const registration with_group{group, measure<by_group>};

}  // namespace
}  // namespace bench::skynet
