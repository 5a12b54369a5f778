// SPDX-License-Identifier: Apache-2.0
#include "csv_options.hpp"

#include <fmt/format.h>

#include <creek/core/error.hpp>

#include "command_line/command.hpp"

namespace creek::tool {

void add_csv_options(command_line::command& command, csv_arguments& given) {
  using mapreduce::csv_header;
  command
      .add_option("--columns", given.format.columns,
                  "Columns to read, in this order: names in the header or numbers from 1")
      ->delimiter(',')
      ->one_word()
      ->option_text("NAME,...");
  command
      .add_option("--separator", given.separator,
                  "Between columns: comma, semicolon, tab, space, or one character; auto is as the "
                  "first line has it")
      ->show_default();
  command
      .add_choice("--header", given.format.header,
                  {{"auto", csv_header::automatic},
                   {"yes", csv_header::present},
                   {"no", csv_header::absent}},
                  "Whether the first line has the names of the columns")
      ->option_text("auto|yes|no");
}

mapreduce::csv_format format_of(const csv_arguments& given) {
  mapreduce::csv_format format = given.format;
  const std::string& name = given.separator;
  if (name == "comma") {
    format.separator = ',';
  } else if (name == "semicolon") {
    format.separator = ';';
  } else if (name == "tab") {
    format.separator = '\t';
  } else if (name == "space") {
    format.separator = ' ';
  } else if (name.size() == 1) {
    format.separator = name[0];
  } else if (name != "auto") {
    throw usage_error(fmt::format(
        "--separator {}: must be auto, comma, semicolon, tab, space, or one character", name));
  }
  return format;
}

}  // namespace creek::tool
