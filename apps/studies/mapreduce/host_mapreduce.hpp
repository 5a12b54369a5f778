// SPDX-License-Identifier: Apache-2.0
// `creek bench mapreduce`: how MapReduce speeds up with the workers of the host.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool::bench {

/// Adds the subcommand to `creek bench`.
void add_host_mapreduce(command_line::command& bench);

}  // namespace creek::tool::bench
