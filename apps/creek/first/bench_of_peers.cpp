// SPDX-License-Identifier: Apache-2.0
// `creek bench` in a tool that only compares creek with programs of other libraries.
#include "command_line/command.hpp"
#include "commands.hpp"

namespace creek::tool {

void add_bench(command_line::command& app, int& exit_code) {
  command_line::command* group =
      app.add_subcommand("bench", "Measure creek beside other libraries");
  group->require_subcommand();
  group->footer(R"(Examples:
  creek bench tasking --quick                    a first look at tasks beside other libraries)");
  add_peer_groups(*group, exit_code);
}

}  // namespace creek::tool
