// SPDX-License-Identifier: Apache-2.0
// Tree search on creek: the children of a node are forked off by halves.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::uts {
namespace {

std::uint64_t search(const node& at, std::int64_t limit);

/// Returns the nodes below the children [first, last) of `at`.
std::uint64_t search_children(const node& at, int first, int last, std::int64_t limit) {
  if (last - first == 1) return search(child(at, first), limit);
  const int middle = first + (last - first) / 2;
  const auto [left, right] =
      creek::fork_join([&] { return search_children(at, first, middle, limit); },
                       [&] { return search_children(at, middle, last, limit); });
  return left + right;
}

std::uint64_t search(const node& at, std::int64_t limit) {
  const int count = children(at, limit);
  return count == 0 ? 1 : 1 + search_children(at, 0, count, limit);
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
