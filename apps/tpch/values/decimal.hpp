// SPDX-License-Identifier: Apache-2.0
// Exact decimal numbers for answers: sums of products of columns need more than 64 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace creek::tpch {

__extension__ using int128 = __int128;

/// The number units / 10^scale.
struct decimal {
  int128 units = 0;
  int scale = 2;

  friend bool operator==(const decimal&, const decimal&) = default;
};

/// Returns all digits, `scale` of them after the point: "-0.05".
[[nodiscard]] std::string to_string(const decimal& number);

/// Returns numerator / denominator with `scale` digits after the point, halves rounded away from
/// zero. `denominator` is not 0 and below 2^124 in size, the quotient times 10^scale below 2^126.
[[nodiscard]] decimal quotient(int128 numerator, int128 denominator, int scale);

/// Returns sum / count with `scale` digits after the point, halves rounded away from zero. `count`
/// > 0; |sum| * 10^(scale - sum.scale) / count must be below 2^126 and scale at least sum.scale.
[[nodiscard]] decimal average(const decimal& sum, std::int64_t count, int scale);

/// Reads "12", "-0.5" or "1.25" as a whole number of 10^-scale. Returns nullopt if the text is no
/// decimal number, has more digits after the point, or does not fit.
[[nodiscard]] std::optional<std::int64_t> parse_decimal(std::string_view text, int scale) noexcept;

}  // namespace creek::tpch
