// SPDX-License-Identifier: Apache-2.0
// fib on Lace: one branch spawned, the other called.
#include "config.hpp"
#include "harness/lace_runtime.hpp"

namespace bench::fib {
namespace {

TASK_1(std::uint64_t, lace_fib, std::int64_t, n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  SPAWN(lace_fib, n - 1);
  const std::uint64_t b = CALL(lace_fib, n - 2);
  return SYNC(lace_fib) + b;
}

sample measure(const settings& s) {
  start_lace(s);
  sample result{.work = forks(s.n)};
  result.total_ns = timed([&] { result.answer = RUN(lace_fib, s.n); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::fib
