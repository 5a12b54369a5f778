// SPDX-License-Identifier: Apache-2.0
// Tree search on Lace: the children of a node are spawned.
#include "config.hpp"
#include "harness/lace_runtime.hpp"

namespace bench::uts {
namespace {

TASK_2(std::uint64_t, lace_search, node, at, std::int64_t, limit) {
  const int count = children(at, limit);
  for (int i = 0; i < count; ++i) SPAWN(lace_search, child(at, i), limit);
  std::uint64_t nodes = 1;
  for (int i = 0; i < count; ++i) nodes += SYNC(lace_search);
  return nodes;
}

sample measure(const settings& s) {
  start_lace(s);
  sample result;
  result.total_ns = timed([&] { result.answer = RUN(lace_search, root(), s.n); });
  result.work = static_cast<double>(result.answer);
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::uts
