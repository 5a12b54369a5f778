// SPDX-License-Identifier: Apache-2.0
// The matrix multiply on TooManyCooks: the four quadrants as a tuple of coroutines.
#include "config.hpp"
#include "harness/toomanycooks_runtime.hpp"

namespace bench::matmul {
namespace {

tmc::task<void> product(block c, block a, block b, std::int64_t n) {
  if (n == tile) {
    multiply_tile(c, a, b);
    co_return;
  }
  const std::int64_t half = n / 2;
  for (std::int64_t k = 0; k < 2; ++k) {
    const auto part = [&](std::int64_t i, std::int64_t j) {
      return product(c.quadrant(i, j, half), a.quadrant(i, k, half), b.quadrant(k, j, half), half);
    };
    co_await tmc::spawn_tuple(part(0, 0), part(0, 1), part(1, 0), part(1, 1));
  }
}

sample measure(const settings& s) {
  return run_product(
      s, [](const settings&, auto&& f) { f(); },
      [&](block c, block a, block b, std::int64_t n) { run_task(s, product(c, a, b, n)); });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::matmul
