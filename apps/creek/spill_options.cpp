// SPDX-License-Identifier: Apache-2.0
#include "spill_options.hpp"

#include <CLI/CLI.hpp>
#include <creek/core/error.hpp>
#include <cstdlib>

namespace creek::tool {

void add_spill_options(CLI::App& command, spill_options& given) {
  command
      .add_option("--memory", given.memory,
                  "Memory for intermediate data, as 64M or 2G; what is more goes to --spill")
      ->transform(CLI::AsSizeValue(false))
      ->option_text("SIZE");
  command
      .add_option("--spill", given.directory,
                  "Directory for temporary files without names [$TMPDIR or /tmp]")
      ->option_text("DIR");
}

std::optional<mapreduce::memory_limit> limit_of(const spill_options& given) {
  if (!given.memory) {
    if (!given.directory.empty())
      throw usage_error("--spill: needs --memory, from which on to spill");
    return std::nullopt;
  }
  if (*given.memory >> 56 != 0) {  // "-1", too
    throw usage_error("--memory: give a size, as 64M or 2G");
  }
  std::string directory = given.directory;
  if (directory.empty()) {
    const char* const chosen = std::getenv("TMPDIR");
    directory = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  }
  return mapreduce::memory_limit{static_cast<std::size_t>(*given.memory), directory};
}

}  // namespace creek::tool
