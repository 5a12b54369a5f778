// SPDX-License-Identifier: Apache-2.0
// The matrix multiply on libfork: three quadrants forked, the last called.
#include "config.hpp"
#include "harness/libfork_runtime.hpp"

namespace bench::matmul {
namespace {

constexpr auto product = [](auto self, block c, block a, block b,
                            std::int64_t n) -> lf::task<void> {
  if (n == tile) {
    multiply_tile(c, a, b);
    co_return;
  }
  const std::int64_t half = n / 2;
  for (std::int64_t k = 0; k < 2; ++k) {
    for (std::int64_t part = 0; part < 3; ++part) {
      const std::int64_t i = part / 2;
      const std::int64_t j = part % 2;
      co_await lf::fork(self)(c.quadrant(i, j, half), a.quadrant(i, k, half),
                              b.quadrant(k, j, half), half);
    }
    co_await lf::call(self)(c.quadrant(1, 1, half), a.quadrant(1, k, half), b.quadrant(k, 1, half),
                            half);
    co_await lf::join;
  }
};

sample measure(const settings& s) {
  auto& workers = pool(s);
  return run_product(
      s, [](const settings&, auto&& f) { f(); },
      [&](block c, block a, block b, std::int64_t n) {
        lf::sync_wait(workers, product, c, a, b, n);
      });
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::matmul
