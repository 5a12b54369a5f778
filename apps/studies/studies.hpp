// SPDX-License-Identifier: Apache-2.0
// The studies, each of which adds itself to `creek bench` or `creek scc`. Those with an `exit_code`
// set it to 1 if a figure or an answer is not as it should be.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool {

// chip
void add_scc_linalg(command_line::command& bench, int& exit_code);
void add_scc_linalg_messages(command_line::command& bench);
/// The power model beside the published points it was fitted to, and the latencies of clock and
/// voltage changes beside the published ones, from which they may differ by 3 %.
void add_scc_power(command_line::command& bench, int& exit_code);

// machines
void add_machines(command_line::command& bench);

// mapreduce
void add_stages(command_line::command& bench);
void add_scc_mapreduce(command_line::command& bench);

// primitives
void add_scc_calibrate(command_line::command& scc);
void add_scc_copies(command_line::command& bench);
void add_scc_invoke(command_line::command& bench);
void add_scc_messages(command_line::command& bench);
void add_scc_primitives(command_line::command& bench, int& exit_code);
void add_scc_simulator(command_line::command& bench);

// tpch
void add_tpch_paper(command_line::command& bench);

}  // namespace creek::tool
