// SPDX-License-Identifier: Apache-2.0
// The tasks of a factorization as a trace, for Perfetto.
#pragma once

#include <creek/core/trace.hpp>
#include <creek/linalg/task_graph.hpp>
#include <string>

namespace creek::tool::dense {

/// Writes a track for each worker: its tasks by name, with their numbers. `session` is older than
/// the graph, empty, and used up. Throws creek::error; then there is no new file.
void write_trace(const std::string& file, const linalg::graph_report& graph,
                 trace::session& session);

}  // namespace creek::tool::dense
