// SPDX-License-Identifier: Apache-2.0
// Whole numbers in the text of the kernel's files.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

#include <creek/core/language.hpp>

namespace creek {

/// Returns the decimal number that is the whole text, or nothing if it is none or T cannot hold it.
template <std::integral T>
[[nodiscard]] std::optional<T> number_in(std::string_view text) noexcept {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, why] = std::from_chars(text.data(), end, value);
  if (why != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace creek
