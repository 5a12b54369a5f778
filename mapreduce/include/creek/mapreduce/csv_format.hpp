// SPDX-License-Identifier: Apache-2.0
// How a file with columns is written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

enum class csv_header : std::uint8_t {
  automatic,  ///< a first line without a number in any column that is asked for is a header
  present,
  absent,
};

/// How a file is written, and what of it is wanted.
struct csv_format {
  /// Between fields; ' ' for any number of spaces and tabs. 0: the first of , ; and tab that is in
  /// the first line of the file, else spaces.
  char separator = 0;
  csv_header header = csv_header::automatic;
  /// In the order wanted: names of the header, or numbers from 1. Empty: all.
  std::vector<std::string> columns = {};
};

}  // namespace creek::mapreduce
