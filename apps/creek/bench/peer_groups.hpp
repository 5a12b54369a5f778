// SPDX-License-Identifier: Apache-2.0
// The groups of benchmarks that run programs of other libraries beside creek's.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool::bench {

/// Adds `tasking`, `invoke`, `linalg` and `schedulers`, whose callbacks set `exit_code`.
void add_peer_groups(command_line::command& bench, int& exit_code);

}  // namespace creek::tool::bench
