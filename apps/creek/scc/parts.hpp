// SPDX-License-Identifier: Apache-2.0
// What adds itself to `creek scc`, and the benches of the simulator to `creek bench`.
#pragma once

namespace CLI {
class App;
}

namespace creek::tool {

void add_scc_info(CLI::App& scc);
void add_scc_calibrate(CLI::App& scc);

void add_scc_primitives(CLI::App& bench, int& exit_code);
void add_scc_simulator(CLI::App& bench);
void add_scc_messages(CLI::App& bench);
void add_scc_copies(CLI::App& bench);
void add_scc_invoke(CLI::App& bench);

}  // namespace creek::tool
