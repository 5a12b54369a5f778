// SPDX-License-Identifier: Apache-2.0
// Serial fib: the plain recursion as the compiler optimizes it.
#include "config.hpp"

namespace bench::fib {
namespace {

std::uint64_t fib(std::int64_t n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  return fib(n - 1) + fib(n - 2);
}

sample measure(const settings& s) {
  std::uint64_t answer = 0;
  const double ns = timed([&] { answer = fib(s.n); });
  return sample{ns, forks(s.n), answer};
}

const registration registered{what, measure};
const registration with_pauses{
    pauses, [](const settings& s) { return after_pauses(s, fib, [](const auto& f) { f(); }); }};

}  // namespace
}  // namespace bench::fib
