// SPDX-License-Identifier: Apache-2.0
// Skynet on OpenMP tasks.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::skynet {
namespace {

std::uint64_t node(std::uint64_t first, std::int64_t depth) {
  if (depth == 0) return first;
  const std::uint64_t step = leaves(depth - 1);
  results below;
  for (std::size_t i = 0; i < children; ++i) {
    std::uint64_t* slot = &below[i];
#pragma omp task firstprivate(first, depth, step, i, slot)
    *slot = node(first + i * step, depth - 1);
  }
#pragma omp taskwait
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
