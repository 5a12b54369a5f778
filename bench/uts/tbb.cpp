// SPDX-License-Identifier: Apache-2.0
// Tree search on oneTBB: one task_group per node, one task per child.
#include <oneapi/tbb/task_group.h>

#include <array>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::uts {
namespace {

std::uint64_t search(const node& at, std::int64_t limit) {
  const int count = children(at, limit);
  if (count == 0) return 1;
  std::array<std::uint64_t, max_children> below;
  tbb::task_group group;
  for (int i = 0; i < count; ++i) {
    group.run([next = child(at, i), limit, slot = &below[static_cast<std::size_t>(i)]] {
      *slot = search(next, limit);
    });
  }
  group.wait();
  std::uint64_t nodes = 1;
  for (int i = 0; i < count; ++i) nodes += below[static_cast<std::size_t>(i)];
  return nodes;
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
