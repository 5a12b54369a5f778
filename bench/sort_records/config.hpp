// SPDX-License-Identifier: Apache-2.0
// Sorts n records of 16 bytes by a key of 63 random bits. The result is in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/workload.hpp"
#include "sum_by_key/pairs.hpp"

namespace bench::sort_records {

using sum_by_key::key_value;

inline constexpr description what{.name = "sort_records",
                                  .about = "n records of 16 bytes sorted by key",
                                  .unit = "M records/s",
                                  .full = {10'000'000, 100'000'000},
                                  .quick = 4'000'000,
                                  .smoke = 5000,
                                  .rate = true,
                                  .scale = 1e3,
                                  .groups = "mapreduce"};

/// Runs `sort(records)`, which sorts in place.
template <class Sort>
sample timed_sort(const settings& s, const Sort& sort) {
  std::vector<key_value> records(static_cast<std::size_t>(s.n));
  for (std::uint64_t i = 0; i < records.size(); ++i) {
    records[i] = {sum_by_key::mixed(i + 1) >> 1, i};
  }
  sample result{.work = static_cast<double>(s.n)};
  result.total_ns = timed([&] { sort(records); });
  std::uint64_t place = 0, mixed = 0;
  for (const auto& [key, value] : records) mixed += ++place * (key % 1024 + value % 1024);
  result.answer = 1'000'003 * place + mixed;
  return result;
}

/// A function object, which sorts can inline.
inline constexpr auto before = [](const key_value& a, const key_value& b) { return a.key < b.key; };

}  // namespace bench::sort_records
