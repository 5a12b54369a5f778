// SPDX-License-Identifier: Apache-2.0
// The options of commands whose intermediate data may exceed the memory.
#pragma once

#include <creek/mapreduce/memory_limit.hpp>
#include <cstdint>
#include <optional>
#include <string>

namespace creek::command_line {
class command;
}

namespace creek::tool {

struct spill_options {
  std::optional<std::uint64_t> memory;  // bytes
  std::string directory;
};

/// Adds --memory and --spill. `given` outlives the parse.
void add_spill_options(command_line::command& command, spill_options& given);

/// Returns the limit, if one was given; without --spill it uses the directory that TMPDIR names, or
/// /tmp. Throws usage_error for --spill without --memory.
[[nodiscard]] std::optional<mapreduce::memory_limit> limit_of(const spill_options& given);

}  // namespace creek::tool
