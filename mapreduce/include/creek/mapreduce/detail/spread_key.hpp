// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// One-to-one map that spreads keys, which are often small or multiples, over the upper bits:
/// results are equal exactly for equal keys.
template <std::integral Key>
[[nodiscard]] constexpr std::uint64_t spread_key(Key key) noexcept {
  return static_cast<std::uint64_t>(key) * 0x9E3779B97F4A7C15ull;
}

}  // namespace creek::mapreduce::detail
