// SPDX-License-Identifier: Apache-2.0
// `creek bench`: the groups of benchmarks, with other libraries and with creek alone.
#include "command_line/command.hpp"
#include "commands.hpp"
#include "studies/studies.hpp"

namespace creek::tool {

void add_bench(command_line::command& app, int& exit_code) {
  command_line::command* group =
      app.add_subcommand("bench", "Measure creek beside other libraries");
  group->require_subcommand();
  group->footer(R"(Examples:
  creek bench tasking --quick                    a first look at tasks beside other libraries
  creek bench mapreduce --quick                  MapReduce jobs beside databases and hash maps
  creek bench stages --workers 1,2               MapReduce by workers and strategies
  creek bench scc-messages                       messages on the simulated chip)");
  add_peer_groups(*group, exit_code);
  add_stages(*group);
  add_tpch_paper(*group);
  add_machines(*group);
  add_scc_messages(*group);
  add_scc_copies(*group);
  add_scc_invoke(*group);
  add_scc_mapreduce(*group);
  add_scc_linalg_messages(*group);
  add_scc_primitives(*group, exit_code);
  add_scc_simulator(*group);
  add_scc_power(*group, exit_code);
  add_scc_linalg(*group, exit_code);
}

}  // namespace creek::tool
