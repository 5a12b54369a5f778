// SPDX-License-Identifier: Apache-2.0
// fib on citor: forkJoin.
#include "config.hpp"
#include "harness/citor_runtime.hpp"

namespace bench::fib {
namespace {

std::uint64_t fib(citor::ThreadPool& pool, std::int64_t n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  pool.forkJoin<citor_hints>([&] { a = fib(pool, n - 1); }, [&] { b = fib(pool, n - 2); });
  return a + b;
}

sample measure(const settings& s) {
  sample result{.work = forks(s.n)};
  inside(s, [&] { result.total_ns = timed([&] { result.answer = fib(*citor_pool, s.n); }); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::fib
