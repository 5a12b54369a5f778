// SPDX-License-Identifier: Apache-2.0
// `creek scc`: commands on the simulated chip itself.

#include "command_line/command.hpp"
#include "commands.hpp"
#include "studies/studies.hpp"

namespace creek::tool {

void add_scc(command_line::command& app, int&) {
  auto* command = app.add_subcommand("scc", "Describe and calibrate the simulated chip");
  command->require_subcommand();
  command->footer(R"(Examples:
  creek scc info --chip scc-800
  creek scc info --description > my-chip.json
  creek scc calibrate)");
  add_scc_info(*command);
  add_scc_calibrate(*command);
}

}  // namespace creek::tool
