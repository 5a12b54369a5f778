// SPDX-License-Identifier: Apache-2.0
// Single instructions that matter to schedulers: a full fence, an atomic read-modify-write on a
// line that the core owns, and a step of the busy loop that "1 us" tasks are made of (the driver
// converts it to their number of steps).
#include <atomic>

#include "harness/workload.hpp"

namespace bench::limits {
namespace {

constexpr description fence{.name = "fence",
                            .about = "sequentially consistent fence after a store",
                            .unit = "ns",
                            .full = 20'000'000,
                            .quick = 2'000'000,
                            .smoke = 1000,
                            .limit = true};
constexpr description rmw{.name = "rmw",
                          .about = "atomic fetch_add, line owned",
                          .unit = "ns",
                          .full = 20'000'000,
                          .quick = 2'000'000,
                          .smoke = 1000,
                          .limit = true};
constexpr description busy_step{.name = "busy_step",
                                .about = "one step of the tasks' busy loop",
                                .unit = "ns",
                                .full = 20'000'000,
                                .quick = 2'000'000,
                                .smoke = 1000,
                                .limit = true,
                                .groups = "tasking invoke sections"};

template <class F>
sample repeat(const settings& s, F&& f) {
  const double ns = timed([&] {
    for (std::int64_t i = 0; i < s.n; ++i) f(i);
  });
  return {ns, static_cast<double>(s.n), static_cast<std::uint64_t>(s.n)};
}

sample measure_fence(const settings& s) {
  std::atomic<std::int64_t> word{0};
  return repeat(s, [&](std::int64_t i) {
    word.store(i, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

const registration with_fence{fence, measure_fence};

sample measure_rmw(const settings& s) {
  std::atomic<std::int64_t> word{0};
  return repeat(s, [&](std::int64_t) { word.fetch_add(1); });
}

const registration with_rmw{rmw, measure_rmw};

sample measure_busy(const settings& s) {
  sample result{.work = static_cast<double>(s.n), .answer = static_cast<std::uint64_t>(s.n)};
  std::uint64_t end = 0;
  result.total_ns = timed([&] { end = busy(s.n, 1); });
  asm volatile("" : : "r"(end));
  return result;
}

const registration with_busy{busy_step, measure_busy};

}  // namespace
}  // namespace bench::limits
