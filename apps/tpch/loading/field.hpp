// SPDX-License-Identifier: Apache-2.0
// Reads the fields of a record, eight digits at a time in one register, whatever the length of the
// number, since a branch on the length is badly predicted.
// Source of the arithmetic: [Lemire 2021], section 6.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "tpch/values/date.hpp"
#include "tpch/values/decimal.hpp"

namespace creek::tpch {

/// Number of bytes before a field's text that must be readable; their values do not matter.
inline constexpr std::size_t field_slack = 8;

/// Returns the value of 1 to 8 digits, or nullopt. Reads `field_slack` bytes before the text's end.
inline std::optional<std::int64_t> parse_short(std::string_view text) noexcept {
  std::uint64_t x;
  std::memcpy(&x, text.data() + text.size() - 8, 8);
  x = (x ^ 0x3030303030303030) & (~std::uint64_t{0} << (64 - 8 * text.size()));
  if ((((x + 0x7676767676767676) | x) & 0x8080808080808080) != 0) return {};
  x = x * 10 + (x >> 8);
  constexpr std::uint64_t pairs = 0x000000FF000000FF;
  return static_cast<std::int64_t>(
      ((x & pairs) * 0x000F424000000064 + ((x >> 16) & pairs) * 0x0000271000000001) >> 32);
}

/// Returns a whole number that fits 64 bits, or nullopt.
inline std::optional<std::int64_t> parse_integer(std::string_view text) noexcept {
  if (text.size() - 1 < 8 && text[0] != '-') return parse_short(text);
  return parse_decimal(text, 0);
}

/// Returns a decimal(15,2) in hundredths, or nullopt.
inline std::optional<std::int64_t> parse_hundredths(std::string_view text) noexcept {
  if (text.size() - 4 < 8 && text[text.size() - 3] == '.' && text[0] != '-') {
    const auto whole = parse_short(text.substr(0, text.size() - 3));
    const auto part = parse_short(text.substr(text.size() - 2));
    if (!whole || !part) return {};
    return *whole * 100 + *part;
  }
  return parse_decimal(text, 2);
}

}  // namespace creek::tpch
