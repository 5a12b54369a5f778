// SPDX-License-Identifier: Apache-2.0
// Tree search on creek: the children of a node are forked.
#include <array>
#include <numeric>

#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::uts {
namespace {

std::uint64_t search(const node& at, std::int64_t limit) {
  const int count = children(at, limit);
  std::array<std::uint64_t, max_children> below;  // the first `count` are used
  creek::fork_all(static_cast<std::size_t>(count), [&](std::size_t index) {
    below[index] = search(child(at, static_cast<int>(index)), limit);
  });
  return std::accumulate(below.begin(), below.begin() + count, std::uint64_t{1});
}

sample measure(const settings& s) {
  sample result;
  inside(s, [&] { result.total_ns = timed([&] { result.answer = search(root(), s.n); }); });
  result.work = static_cast<double>(result.answer);
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::uts
