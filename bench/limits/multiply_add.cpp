// SPDX-License-Identifier: Apache-2.0
// The rate of fused multiply-adds in double precision that all workers reach together in registers,
// with the widest vectors of this processor: no routine of linear algebra can be faster. n is the
// number of calls per worker, each 10 000 times one multiply-add to each of twelve vectors.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "limits/multiply_add.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <numeric>

#include "harness/threads.hpp"
#include "harness/workload.hpp"
#include "pinning.hpp"

HWY_BEFORE_NAMESPACE();
namespace bench::limits {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Returns the operations done, two per multiply-add. Twelve parallel sums cover the latency (four
/// cycles) of two units, and with sixteen registers leave some for factors. Sums stay near one.
double multiply_add(std::int64_t rounds) {
  const hn::ScalableTag<double> d;
  const auto factor = hn::Set(d, 0.5), term = hn::Set(d, 0.5);
  double starts[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  asm volatile("" : : "r"(starts) : "memory");  // else equal sums would become one
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
  const auto sum = hn::Add(
      hn::Add(hn::Add(a, b), hn::Add(c, e)),
      hn::Add(hn::Add(hn::Add(f, g), hn::Add(h, i)), hn::Add(hn::Add(j, k), hn::Add(l, m))));
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

double multiply(std::int64_t how_often) {
  return HWY_DYNAMIC_DISPATCH(multiply_add)(how_often);
}

constexpr std::int64_t rounds = 10'000;

constexpr description fma_peak{.name = "fma_peak",
                               .about = "all workers, multiply-adds of doubles in registers",
                               .unit = "GFLOP/s",
                               .full = 10'000,
                               .quick = 2'000,
                               .smoke = 64,
                               .limit = true,
                               .all_workers = true,
                               .rate = true,
                               .groups = "linalg"};

/// Returns the operations per ns of one worker, by the median of its calls. A call is shorter than
/// a time slice, so that other load on its processor does not count.
double rate_of_calls(std::int64_t n) {
  std::vector<double> times;
  double operations = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    times.push_back(timed([&] { operations = multiply(rounds); }));
  }
  const sample calls = median_sample(std::move(times), 0);
  return operations * calls.work / calls.total_ns;
}

sample measure(const settings& s) {
  multiply(rounds);  // the first call also looks at the processor
  const auto cpus = allowed_cpus();
  std::vector<double> rates(s.workers);
  time_threads(s.workers, [&](unsigned worker) {
    const pin stay(cpus.at(worker % cpus.size()));
    rates[worker] = rate_of_calls(s.n);
  });
  const double together = std::accumulate(rates.begin(), rates.end(), 0.0);
  return {.total_ns = 1, .work = together, .answer = static_cast<std::uint64_t>(s.n)};
}

const registration with_multiply_add{fma_peak, measure};

}  // namespace
}  // namespace bench::limits
#endif
