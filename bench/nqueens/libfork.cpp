// SPDX-License-Identifier: Apache-2.0
// n queens on libfork: one coroutine per safe placement.
#include "config.hpp"
#include "harness/libfork_runtime.hpp"

namespace bench::nqueens {
namespace {

constexpr auto solve = [](auto self, board b, int row, int n) -> lf::task<std::uint64_t> {
  if (row == n) co_return 1;
  std::array<std::uint64_t, 16> found;  // the first `forked` are used
  std::size_t forked = 0;
  for (int column = 0; column < n; ++column) {
    if (!safe(b, row, column)) continue;
    co_await lf::fork(&found[forked], self)(with(b, row, column), row + 1, n);
    ++forked;
  }
  co_await lf::join;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < forked; ++i) total += found[i];
  co_return total;
};

sample measure(const settings& s) {
  auto& workers = pool(s);
  sample result{.work = tasks(s)};
  result.total_ns = timed(
      [&] { result.answer = lf::sync_wait(workers, solve, board{}, 0, static_cast<int>(s.n)); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::nqueens
