// SPDX-License-Identifier: Apache-2.0
#include "decimal.hpp"

#include <algorithm>

namespace creek::tpch {
namespace {

constexpr int128 power_of_ten(int exponent) noexcept {
  int128 power = 1;
  for (; exponent > 0; --exponent) power *= 10;
  return power;
}

}  // namespace

std::string to_string(const decimal& number) {
  __extension__ using uint128 = unsigned __int128;
  const bool negative = number.units < 0;
  uint128 rest =
      negative ? -static_cast<uint128>(number.units) : static_cast<uint128>(number.units);
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
  const int128 wide = (denominator < 0 ? -numerator : numerator) * power_of_ten(scale);
  const int128 size = denominator < 0 ? -denominator : denominator;
  const int128 half = wide < 0 ? -(size / 2) : size / 2;
  // For an odd denominator no quotient lies halfway, and size / 2 rounds as it should.
  return {(wide + half) / size, scale};
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
  const auto append = [&value](char c) {
    return c >= '0' && c <= '9' && !__builtin_mul_overflow(value, 10, &value) &&
           !__builtin_add_overflow(value, c - '0', &value);
  };
  for (const char c : whole) {
    if (!append(c)) return {};
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(scale); ++i) {
    if (!append(i < part.size() ? part[i] : '0')) return {};
  }
  return negative ? -value : value;
}

}  // namespace creek::tpch
