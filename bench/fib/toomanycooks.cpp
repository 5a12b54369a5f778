// SPDX-License-Identifier: Apache-2.0
// fib on TooManyCooks: both branches as a tuple of coroutines, the form of its README.
#include "config.hpp"
#include "harness/toomanycooks_runtime.hpp"

namespace bench::fib {
namespace {

tmc::task<std::uint64_t> fib(std::int64_t n) {
  if (n < 2) co_return static_cast<std::uint64_t>(n);
  const auto [a, b] = co_await tmc::spawn_tuple(fib(n - 1), fib(n - 2));
  co_return a + b;
}

sample measure(const settings& s) {
  sample result{.work = forks(s.n)};
  result.total_ns = timed([&] { result.answer = run_task(s, fib(s.n)); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::fib
