// SPDX-License-Identifier: Apache-2.0
// fib on oneTBB: one task_group per fork, one branch spawned, the other called.
#include <oneapi/tbb/task_group.h>

#include "config.hpp"
#include "harness/tbb_runtime.hpp"

namespace bench::fib {
namespace {

std::uint64_t fib(std::int64_t n) {
  if (n < 2) return static_cast<std::uint64_t>(n);
  std::uint64_t a = 0;
  tbb::task_group group;
  group.run([&] { a = fib(n - 1); });
  const std::uint64_t b = fib(n - 2);
  group.wait();
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
