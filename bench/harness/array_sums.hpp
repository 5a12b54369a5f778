// SPDX-License-Identifier: Apache-2.0
// Workloads that add up an array of sums over data in memory: what their peers share. Each has
// `what`, `input_of(settings)`, `unit` (elements that stay together) and an array `sums`.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workload.hpp"

namespace bench {

/// Returns an answer that depends on every sum, a whole number, and its place.
template <class Sums>
std::uint64_t digest_of(const Sums& sums) {
  std::uint64_t place = 0, mixed = 0;
  for (const auto& sum : sums) mixed += ++place * static_cast<std::uint64_t>(sum);
  return mixed;
}

/// Returns share number `self` of `shares`, cut between groups of `unit` elements.
template <class T>
std::span<const T> share_of(std::span<const T> data, std::size_t unit, unsigned self,
                            unsigned shares) {
  const std::size_t units = data.size() / unit;
  const std::size_t from = self * units / shares, to = (self + 1) * units / shares;
  return data.subspan(from * unit, (to - from) * unit);
}

/// Runs `sum_up(data)`, which returns the sums, and times it.
template <class T, class SumUp>
sample timed_sums(const std::vector<T>& data, const SumUp& sum_up) {
  sample result{.work = static_cast<double>(data.size() * sizeof(T))};
  decltype(sum_up(std::span<const T>(data))) made{};
  result.total_ns = timed([&] { made = sum_up(std::span<const T>(data)); });
  result.answer = digest_of(made);
  return result;
}

}  // namespace bench
