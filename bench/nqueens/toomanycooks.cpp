// SPDX-License-Identifier: Apache-2.0
// n queens on TooManyCooks: one coroutine per safe placement.
#include "config.hpp"
#include "harness/toomanycooks_runtime.hpp"

namespace bench::nqueens {
namespace {

tmc::task<std::uint64_t> solve(board b, int row, int n) {
  if (row == n) co_return 1;
  std::array<tmc::task<std::uint64_t>, 16> below;  // the first `count` are used
  std::size_t count = 0;
  for (int column = 0; column < n; ++column) {
    if (safe(b, row, column)) below[count++] = solve(with(b, row, column), row + 1, n);
  }
  if (count == 0) co_return 0;
  const auto found = co_await tmc::spawn_many<16>(below.data(), below.data() + count);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += found[i];
  co_return total;
}

sample measure(const settings& s) {
  sample result{.work = tasks(s)};
  result.total_ns =
      timed([&] { result.answer = run_task(s, solve(board{}, 0, static_cast<int>(s.n))); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::nqueens
