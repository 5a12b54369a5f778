// SPDX-License-Identifier: Apache-2.0
// The part of every table that one of several processes reads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace creek::tpch {

/// Share `index` of `count`: the shares are as equal as possible, and together they are the table.
struct table_share {
  unsigned index = 0;
  unsigned count = 1;

  struct range {
    std::uint64_t begin = 0, end = 0;
  };
  /// Returns this share of `size` bytes, rows or row groups, in whole units of `unit`.
  [[nodiscard]] constexpr range of(std::uint64_t size, std::uint64_t unit = 1) const noexcept {
    const auto begin_of = [&](std::uint64_t share) {
      const std::uint64_t units = (size + unit - 1) / unit;
      const std::uint64_t before = units / count * share + std::min(share, units % count);
      return std::min(before * unit, size);
    };
    return {begin_of(index), begin_of(std::uint64_t{index} + 1)};
  }
};

}  // namespace creek::tpch
