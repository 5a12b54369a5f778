// SPDX-License-Identifier: Apache-2.0
// Data-parallel loops. `axpy` and `sum` stream n doubles through the memory system (16 and 8 bytes
// per element read, 8 written by axpy): the limit is the machine's bandwidth, see limits.
// `loop_20us` is a loop of 100 iterations that takes one worker 20 us (fewer and longer ones than
// most loops have, since the processor would overlap shorter ones). It measures the cost of
// starting and ending a loop; n is the number of loops run back to back.
#pragma once
#include "harness/workload.hpp"

namespace bench::parallel_for {

inline constexpr description axpy{.name = "axpy",
                                  .about = "parallel_for, y += a x",
                                  .unit = "ns/element",
                                  .full = 100'000'000,
                                  .quick = 5'000'000,
                                  .smoke = 10'000};
inline constexpr description sum{.name = "sum",
                                 .about = "parallel_reduce, sum of doubles",
                                 .unit = "ns/element",
                                 .full = 100'000'000,
                                 .quick = 5'000'000,
                                 .smoke = 10'000};
inline constexpr description loop_20us{.name = "loop_20us",
                                       .about = "parallel_for of 100 iterations, 20 us in all",
                                       .unit = "ns/loop",
                                       .full = 5000,
                                       .quick = 500,
                                       .smoke = 3};

inline constexpr double factor = 3;
inline constexpr std::int64_t iterations = 100;

/// x and y of axpy and sum, kept from run to run, since touching 1.6 GB for the first time takes
/// longer than the runs. Integers, so that sums are exact in any order.
struct vectors {
  std::vector<double> x, y;

  static vectors& of(std::int64_t n) {
    static vectors kept;
    kept.x.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < kept.x.size(); ++i) kept.x[i] = static_cast<double>(i % 1024);
    return kept;
  }
  void reset_y() { y.assign(x.size(), 1); }

  /// Returns the sum of every thousandth element and the last.
  [[nodiscard]] std::uint64_t answer() const {
    double total = y.back();
    for (std::size_t i = 0; i < y.size(); i += 1000) total += y[i];
    return static_cast<std::uint64_t>(total);
  }
};

/// Runs axpy by `loop(n, x, y)`.
template <class Loop>
sample run_axpy(const settings& s, const Loop& loop) {
  vectors& v = vectors::of(s.n);
  v.reset_y();
  const double ns = timed([&] { loop(s.n, v.x.data(), v.y.data()); });
  return {ns, static_cast<double>(s.n), v.answer()};
}

/// Runs the reduction `total = reduce(n, x)`.
template <class Reduce>
sample run_sum(const settings& s, const Reduce& reduce) {
  const vectors& v = vectors::of(s.n);
  double total = 0;
  const double ns = timed([&] { total = reduce(s.n, v.x.data()); });
  return {ns, static_cast<double>(s.n), static_cast<std::uint64_t>(total)};
}

/// Runs n loops `loop(iterations, body)`, where body(i) is one iteration.
template <class Loop>
sample run_loops(const settings& s, const Loop& loop) {
  std::vector<std::uint64_t> out(static_cast<std::size_t>(iterations));
  const std::int64_t steps = 20 * s.grain / iterations;
  const auto body = [&out, steps](std::int64_t i) {
    out[static_cast<std::size_t>(i)] = busy(steps, static_cast<std::uint64_t>(i));
  };
  const double ns = timed([&] {
    for (std::int64_t k = 0; k < s.n; ++k) loop(iterations, body);
  });
  std::uint64_t answer = 0;
  for (const auto x : out) answer += x;
  return {ns, static_cast<double>(s.n), answer};
}

}  // namespace bench::parallel_for
