// SPDX-License-Identifier: Apache-2.0
// `creek bench scc-power`: the power model beside the published points it was fitted to, and the
// latencies of clock and voltage changes beside the published ones.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool {

/// Adds `scc-power`; exit code 1 if a latency is off by over 3 % or a constant is not the fit's.
void add_scc_power(command_line::command& bench, int& exit_code);

}  // namespace creek::tool
