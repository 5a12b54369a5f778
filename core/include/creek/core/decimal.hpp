// SPDX-License-Identifier: Apache-2.0
// Whole numbers as text.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include <creek/core/language.hpp>

namespace creek {
namespace detail {
std::string digits_of(std::uint64_t magnitude, bool is_negative);
}  // namespace detail

/// Returns the digits of a number, like std::to_string, which puts its code into every caller and a
/// table for each type into the program.
template <std::integral T>
std::string decimal(T number) {
  const bool is_negative = std::cmp_less(number, 0);
  const auto bits = static_cast<std::uint64_t>(number);
  return detail::digits_of(is_negative ? 0 - bits : bits, is_negative);
}

}  // namespace creek
