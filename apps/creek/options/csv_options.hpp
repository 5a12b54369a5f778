// SPDX-License-Identifier: Apache-2.0
// The options of commands that read columns of text files.
#pragma once

#include <creek/mapreduce/inputs/csv_columns.hpp>
#include <string>

namespace creek::command_line {
class command;
}

namespace creek::tool {

struct csv_arguments {
  mapreduce::csv_format format;
  std::string separator = "auto";
};

/// Adds --columns, --separator and --header. `given` outlives the parse.
void add_csv_options(command_line::command& command, csv_arguments& given);

/// Returns the format of the options. Throws usage_error.
[[nodiscard]] mapreduce::csv_format format_of(const csv_arguments& given);

/// Help text on the format of text with columns.
inline constexpr const char* csv_notes =
    R"(Text is CSV (RFC 4180, without line ends in quotes) or has other separators or blanks between its
columns. Each line is a record; blank lines are skipped. The first line is a header if it has no
number in the columns that are read.)";

}  // namespace creek::tool
