// SPDX-License-Identifier: Apache-2.0
// `creek bench mapreduce`: how MapReduce speeds up with the workers of the host.
#pragma once

namespace CLI {
class App;
}

namespace creek::tool::bench {

/// Adds the subcommand to `creek bench`.
void add_host_mapreduce(CLI::App& bench);

}  // namespace creek::tool::bench
