// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-linalg`: time and energy of factorizations by blocks in the shared memory of a
// simulated chip, by power policy, number of cores and block size.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool {

void add_scc_linalg(command_line::command& bench, int& exit_code);

}  // namespace creek::tool
