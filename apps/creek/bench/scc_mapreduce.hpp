// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-mapreduce`: how MapReduce speeds up with the cores of a simulated chip.
#pragma once

namespace CLI {
class App;
}

namespace creek::tool::bench {

/// Adds the subcommand to `creek bench`.
void add_scc_mapreduce(CLI::App& bench);

}  // namespace creek::tool::bench
