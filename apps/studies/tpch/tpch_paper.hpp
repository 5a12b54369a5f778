// SPDX-License-Identifier: Apache-2.0
// `creek bench tpch-paper`: how the published forms of TPC-H queries speed up with workers, or with
// the cores of a simulated chip.
#pragma once

namespace creek::command_line {
class command;
}

namespace creek::tool::bench {

/// Adds the subcommand to `creek bench`.
void add_tpch_paper(command_line::command& bench);

}  // namespace creek::tool::bench
