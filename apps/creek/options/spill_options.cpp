// SPDX-License-Identifier: Apache-2.0
#include "spill_options.hpp"

#include <creek/core/error.hpp>
#include <cstdlib>

#include "command_line/command.hpp"

namespace creek::tool {

void add_spill_options(command_line::command& command, spill_options& given) {
  command
      .add("--memory", command_line::size_value_of(given.memory),
           "Memory for intermediate data, such as 64M or 2G; more data goes to --spill")
      ->option_text("SIZE");
  command
      .add_option("--spill", given.directory,
                  "Directory for temporary files without names [$TMPDIR or /tmp]")
      ->option_text("DIR");
}

std::optional<mapreduce::memory_limit> limit_of(const spill_options& given) {
  if (!given.memory) {
    if (!given.directory.empty())
      throw usage_error("--spill: --memory is required: the amount of data from which on to spill");
    return std::nullopt;
  }
  std::string directory = given.directory;
  if (directory.empty()) {
    const char* const chosen = std::getenv("TMPDIR");
    directory = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  }
  return mapreduce::memory_limit{static_cast<std::size_t>(*given.memory), directory};
}

}  // namespace creek::tool
