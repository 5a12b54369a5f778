// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-linalg`: time and energy of factorizations by blocks in the shared memory of a
// simulated chip, by power policy, number of cores and size of a block.
#pragma once

namespace CLI {
class App;
}

namespace creek::tool {

void add_scc_linalg(CLI::App& bench, int& exit_code);

}  // namespace creek::tool
