// SPDX-License-Identifier: Apache-2.0
// `--energy`, the same for every command that runs something: what the command as a whole used, in
// one line of its output and as "command_energy" in its JSON.
#pragma once

#include <nlohmann/json.hpp>

namespace CLI {
class App;
}

namespace creek::tool {

/// Gives --energy to all commands below `app`, at any depth, but those that only look. Call it
/// after the commands have been added.
void add_energy_option(CLI::App& app);

/// What a command writes as JSON, with "command_energy" if the user asked for it: read at this
/// moment, so call it after the work.
[[nodiscard]] nlohmann::ordered_json with_energy(nlohmann::ordered_json whole);

/// The line, after the output of the command; nothing if nobody asked, or where standard output is
/// JSON. To standard error for --quiet.
void print_energy();

}  // namespace creek::tool
