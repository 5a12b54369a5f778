// SPDX-License-Identifier: Apache-2.0
// How the words after an option become the value of a variable.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace creek::command_line {

/// The numbers that an option allows, besides those of its type.
struct number_range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< min itself is not allowed
};

/// Facts about an option that the parser passes on when it assigns values.
struct assignment {
  std::string option;  ///< name as in messages: "--workers"
  number_range allowed;
  char separator = 0;  ///< separates the items of one word, 0: each word is one item
};

/// Access to a variable that hides its type.
struct value {
  std::string type_name;  ///< name as in --help: "INT"
  bool is_list = false;
  /// Throws usage_error if a word is not such a value or is out of range.
  std::function<void(const std::vector<std::string>& words, const assignment&)> assign;
  std::function<std::string()> print;  ///< the value of the variable, for --help
};

/// Returns the access to a bool, integer, double, std::string, or std::vector or std::optional of
/// these instantiated in value.cpp. The variable outlives the value.
template <class T>
value value_of(T& variable);

/// Returns the access to a number of bytes, as 64M or 2G; multiples are powers of 1024.
value size_value_of(std::optional<std::uint64_t>& variable);

/// Splits words into items. Throws usage_error if an item is empty, as in "1,2,".
std::vector<std::string> items_of(const std::vector<std::string>& words, const assignment& how);

}  // namespace creek::command_line
