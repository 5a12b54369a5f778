// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-mapreduce`: how MapReduce speeds up with the cores of a simulated chip.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool::bench {

/// Adds the subcommand to `creek bench`.
void add_scc_mapreduce(command_line::command& bench);

}  // namespace creek::tool::bench
