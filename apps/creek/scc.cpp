// SPDX-License-Identifier: Apache-2.0
// `creek scc`: the simulated chip itself.
#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "scc/parts.hpp"

namespace creek::tool {

void add_scc(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("scc", "The simulated chip: what it is made of");
  command->require_subcommand(1);
  add_scc_info(*command);
  add_scc_calibrate(*command);
}

}  // namespace creek::tool
