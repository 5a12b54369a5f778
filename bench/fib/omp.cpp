// SPDX-License-Identifier: Apache-2.0
// fib on OpenMP tasks.
#include "config.hpp"
#include "harness/omp_runtime.hpp"

namespace bench::fib {
namespace {

std::uint64_t fib(std::int64_t n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  std::uint64_t a = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fib(n - 1);
  const std::uint64_t b = fib(n - 2);
#pragma omp taskwait
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
