// SPDX-License-Identifier: Apache-2.0
// Format of a file with columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

enum class csv_header : std::uint8_t {
  automatic,  ///< header if the first line has no number in any requested column
  present,
  absent,
};

/// Format of a file, and the columns that are requested.
struct csv_format {
  /// Separator of fields; ' ' means any number of spaces and tabs. 0: the first of , ; and tab that
  /// occurs in the first line of the file, else spaces.
  char separator = 0;
  csv_header header = csv_header::automatic;
  /// Names of the header, or 1-based numbers, in the order of the result. Empty: all columns.
  std::vector<std::string> columns = {};
};

}  // namespace creek::mapreduce
