// SPDX-License-Identifier: Apache-2.0
// fib on creek: fork_join.
#include "config.hpp"
#include "harness/creek_runtime.hpp"

namespace bench::fib {
namespace {

std::uint64_t fib(std::int64_t n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  const auto [a, b] = creek::fork_join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

sample measure(const settings& s) {
  sample result{.work = forks(s.n)};
  inside(s, [&] { result.total_ns = timed([&] { result.answer = fib(s.n); }); });
  return result;
}

const registration registered{what, measure};
const registration with_pauses{pauses, [](const settings& s) {
                                 return after_pauses(s, fib, [&](const auto& f) { inside(s, f); });
                               }};

}  // namespace
}  // namespace bench::fib
