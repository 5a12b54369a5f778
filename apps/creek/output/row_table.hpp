// SPDX-License-Identifier: Apache-2.0
// Prints rows of JSON as a table whose headings are the names of the members.
#pragma once

#include <fmt/format.h>

#include "json/json_value.hpp"

namespace creek::tool {

/// Returns a value as text, numbers with two decimals; null is "-".
inline std::string cell_text(const json_value& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.as_string();
  if (value.is_integer()) return fmt::format("{}", value.as_integer());
  return fmt::format("{:.2f}", value.as_number());
}

/// Prints objects with the same members, of which there is at least one.
inline void print_rows(const char* title, const json_value& rows, int width) {
  fmt::print("\n{}\n", title);
  for (const auto& [key, unused] : rows.items().front().members()) {
    fmt::print("{:>{}}", key, width);
  }
  fmt::print("\n");
  for (const json_value& row : rows.items()) {
    for (const auto& [key, value] : row.members()) fmt::print("{:>{}}", cell_text(value), width);
    fmt::print("\n");
  }
}

}  // namespace creek::tool
