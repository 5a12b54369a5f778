// SPDX-License-Identifier: Apache-2.0
// The rate of fused multiply-adds in double precision that all workers reach together in registers,
// with the widest vectors of this processor: no routine of linear algebra can be faster. n is the
// number of rounds of a worker, each one multiply-add to each of twelve vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "limits/multiply_add.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "harness/workload.hpp"
#include "pinning.hpp"

HWY_BEFORE_NAMESPACE();
namespace bench::limits {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Operations done, two a multiply-add. Twelve sums side by side cover the latency (four cycles) of
/// two units, and leave registers for the factors where there are sixteen. The sums stay near one.
double multiply_add(std::int64_t rounds) {
  const hn::ScalableTag<double> d;
  const auto factor = hn::Set(d, 0.5), term = hn::Set(d, 0.5);
  double starts[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  asm volatile("" : : "r"(starts) : "memory");  // or equal sums would become one
  auto a = hn::Set(d, starts[0]), b = hn::Set(d, starts[1]), c = hn::Set(d, starts[2]),
       e = hn::Set(d, starts[3]), f = hn::Set(d, starts[4]), g = hn::Set(d, starts[5]),
       h = hn::Set(d, starts[6]), i = hn::Set(d, starts[7]), j = hn::Set(d, starts[8]),
       k = hn::Set(d, starts[9]), l = hn::Set(d, starts[10]), m = hn::Set(d, starts[11]);
  for (std::int64_t round = 0; round < rounds; ++round) {
    a = hn::MulAdd(a, factor, term);
    b = hn::MulAdd(b, factor, term);
    c = hn::MulAdd(c, factor, term);
    e = hn::MulAdd(e, factor, term);
    f = hn::MulAdd(f, factor, term);
    g = hn::MulAdd(g, factor, term);
    h = hn::MulAdd(h, factor, term);
    i = hn::MulAdd(i, factor, term);
    j = hn::MulAdd(j, factor, term);
    k = hn::MulAdd(k, factor, term);
    l = hn::MulAdd(l, factor, term);
    m = hn::MulAdd(m, factor, term);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)),
                           hn::Add(hn::Add(hn::Add(f, g), hn::Add(h, i)),
                                   hn::Add(hn::Add(j, k), hn::Add(l, m))));
  const double total = hn::GetLane(sum);
  asm volatile("" : : "m"(total));
  return 2.0 * 12 * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace HWY_NAMESPACE
}  // namespace bench::limits
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bench::limits {
namespace {

HWY_EXPORT(multiply_add);

constexpr description fma_peak{.name = "fma_peak",
                               .about = "all workers, multiply-adds of doubles in registers",
                               .unit = "GFLOP/s",
                               .full = 100'000'000,
                               .quick = 20'000'000,
                               .smoke = 10'000,
                               .limit = true,
                               .all_workers = true,
                               .rate = true,
                               .groups = "linalg"};

sample measure(const settings& s) {
  double operations = 0;
  HWY_DYNAMIC_DISPATCH(multiply_add)(1);  // the first call also looks at the processor
  const double ns = on_all(s.workers, [&](unsigned worker) {
    const double done = HWY_DYNAMIC_DISPATCH(multiply_add)(s.n);
    if (worker == 0) operations = done * s.workers;
  });
  return {.total_ns = ns, .work = operations, .answer = static_cast<std::uint64_t>(s.n)};
}

const registration with_multiply_add{fma_peak, measure};

}  // namespace
}  // namespace bench::limits
#endif
