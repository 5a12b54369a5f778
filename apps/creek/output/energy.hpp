// SPDX-License-Identifier: Apache-2.0

#include "json/json_value.hpp"
// `--energy`, the same for every command that runs something: the energy of the whole command, in
// one line of its output and as "command_energy" in its JSON.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool {

/// Gives --energy to all commands below `app`, at any depth, except those that only show something.
/// Call it after the commands have been added.
void add_energy_option(command_line::command& app);

/// Returns the JSON that a command writes, with "command_energy" added if the user asked for it.
/// Reads the meter now, so call it after the work.
[[nodiscard]] json_value with_energy(json_value whole);

/// Prints the line after the output of the command. Prints nothing if nobody asked, or if standard
/// output is JSON. Writes to standard error for --quiet.
void print_energy();

}  // namespace creek::tool
