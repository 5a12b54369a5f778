// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth with all workers streaming: reading (the sum of an array) and triad (a = b + s
// c, counted as STREAM does: 24 bytes per element, without the read for ownership). n is the number
// of elements per array, divided among the workers.
#include <barrier>
#include <thread>

#include "harness/workload.hpp"
#include "pinning.hpp"

namespace bench::limits {
namespace {

constexpr description read{.name = "memory_read",
                           .about = "all workers read memory",
                           .unit = "GB/s",
                           .full = 50'000'000,
                           .quick = 10'000'000,
                           .smoke = 10'000,
                           .limit = true,
                           .all_workers = true,
                           .rate = true,
                           .groups = "tasking mapreduce"};
constexpr description triad{.name = "memory_triad",
                            .about = "all workers, STREAM triad",
                            .unit = "GB/s",
                            .full = 50'000'000,
                            .quick = 10'000'000,
                            .smoke = 10'000,
                            .limit = true,
                            .all_workers = true,
                            .rate = true};

/// Runs `part(first, last)` on each of the pinned workers over its share of [0, n). Returns the
/// wall time of all of them from a common start.
template <class Part>
double on_all(const settings& s, const Part& part) {
  const auto cpus = allowed_cpus();
  std::barrier start(static_cast<std::ptrdiff_t>(s.workers) + 1);
  std::vector<std::jthread> threads;
  for (unsigned w = 0; w < s.workers; ++w) {
    threads.emplace_back([&, w] {
      const pin stay(cpus.at(w % cpus.size()));
      start.arrive_and_wait();
      part(s.n * w / s.workers, s.n * (w + 1) / s.workers);
      start.arrive_and_wait();
    });
  }
  start.arrive_and_wait();
  return timed([&] { start.arrive_and_wait(); });
}

/// Adds up in eight sums side by side, so that the additions' latency is not measured.
double sum_of(const double* x, std::int64_t n) {
  double lanes[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (std::int64_t k = 0; k < 8; ++k) lanes[k] += x[i + k];
  }
  double total = 0;
  for (const double lane : lanes) total += lane;
  for (; i < n; ++i) total += x[i];
  return total;
}

sample measure_read(const settings& s) {
  static std::vector<double> x;
  x.assign(static_cast<std::size_t>(s.n), 1.0);
  const double ns = on_all(s, [&](std::int64_t first, std::int64_t last) {
    const double total = sum_of(x.data() + first, last - first);
    asm volatile("" : : "x"(total));
  });
  return sample{ns, 8.0 * static_cast<double>(s.n), static_cast<std::uint64_t>(s.n)};
}

const registration with_read{read, measure_read};

sample measure_triad(const settings& s) {
  static std::vector<double> a, b, c;
  for (auto* v : {&a, &b, &c}) v->assign(static_cast<std::size_t>(s.n), 1.0);
  const double ns = on_all(s, [&](std::int64_t first, std::int64_t last) {
    double* __restrict to = a.data();
    for (std::int64_t i = first; i < last; ++i)
      to[i] = b[static_cast<std::size_t>(i)] + 3.0 * c[static_cast<std::size_t>(i)];
  });
  return sample{ns, 24.0 * static_cast<double>(s.n), static_cast<std::uint64_t>(a.back())};
}

const registration with_triad{triad, measure_triad};

}  // namespace
}  // namespace bench::limits
