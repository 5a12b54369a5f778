// SPDX-License-Identifier: Apache-2.0
// Commands that add themselves to `creek scc`, and benches of the simulator to `creek bench`.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool {

void add_scc_info(command_line::command& scc);
void add_scc_calibrate(command_line::command& scc);

void add_scc_primitives(command_line::command& bench, int& exit_code);
void add_scc_simulator(command_line::command& bench);
void add_scc_messages(command_line::command& bench);
void add_scc_copies(command_line::command& bench);
void add_scc_invoke(command_line::command& bench);

}  // namespace creek::tool
