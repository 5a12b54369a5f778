// SPDX-License-Identifier: Apache-2.0
// fib on libfork: one branch forked, the other called.
#include "config.hpp"
#include "harness/libfork_runtime.hpp"

namespace bench::fib {
namespace {

constexpr auto fib = [](auto self, std::int64_t n) -> lf::task<std::uint64_t> {
  if (n < 2) co_return static_cast<std::uint64_t>(n);
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  co_await lf::fork(&a, self)(n - 1);
  co_await lf::call(&b, self)(n - 2);
  co_await lf::join;
  co_return a + b;
};

sample measure(const settings& s) {
  auto& workers = pool(s);
  sample result{.work = forks(s.n)};
  result.total_ns = timed([&] { result.answer = lf::sync_wait(workers, fib, s.n); });
  return result;
}

const registration registered{what, measure};

}  // namespace
}  // namespace bench::fib
