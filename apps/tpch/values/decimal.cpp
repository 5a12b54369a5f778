// SPDX-License-Identifier: Apache-2.0
#include "decimal.hpp"

#include <algorithm>

namespace creek::tpch {
namespace {

__extension__ using uint128 = unsigned __int128;

constexpr uint128 size_of(int128 number) noexcept {
  return number < 0 ? -static_cast<uint128>(number) : static_cast<uint128>(number);
}

}  // namespace

std::string to_string(const decimal& number) {
  const bool negative = number.units < 0;
  uint128 rest = size_of(number.units);
  std::string reversed;
  for (int digit = 0; rest != 0 || digit <= number.scale; ++digit) {
    if (digit == number.scale && digit > 0) reversed += '.';
    reversed += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (negative) reversed += '-';
  std::ranges::reverse(reversed);
  return reversed;
}

decimal quotient(int128 numerator, int128 denominator, int scale) {
  // Computes one digit at a time, so that no factor is above ten.
  const uint128 by = size_of(denominator);
  uint128 units = size_of(numerator) / by, rest = size_of(numerator) % by;
  for (int digit = 0; digit < scale; ++digit) {
    units = 10 * units + 10 * rest / by;
    rest = 10 * rest % by;
  }
  if (rest >= by - rest) ++units;
  const auto size = static_cast<int128>(units);
  return {(numerator < 0) == (denominator < 0) ? size : -size, scale};
}

decimal average(const decimal& sum, std::int64_t count, int scale) {
  decimal of = quotient(sum.units, count, scale - sum.scale);
  of.scale = scale;
  return of;
}

std::optional<std::int64_t> parse_decimal(std::string_view text, int scale) noexcept {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part =
      point == std::string_view::npos ? std::string_view{} : text.substr(point + 1);
  if (whole.empty() || (point != std::string_view::npos && part.empty())) return {};
  if (part.size() > static_cast<std::size_t>(scale)) return {};
  std::int64_t value = 0;
  const auto append = [&](char c) {  // away from zero, since the lowest number has no opposite
    const int digit = negative ? '0' - c : c - '0';
    return c >= '0' && c <= '9' && !__builtin_mul_overflow(value, 10, &value) &&
           !__builtin_add_overflow(value, digit, &value);
  };
  for (const char c : whole) {
    if (!append(c)) return {};
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(scale); ++i) {
    if (!append(i < part.size() ? part[i] : '0')) return {};
  }
  return value;
}

}  // namespace creek::tpch
