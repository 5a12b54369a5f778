// SPDX-License-Identifier: Apache-2.0
// Writes the tasks of a factorization as a trace for Perfetto.
#pragma once

#include <creek/core/io/atomic_file.hpp>
#include <creek/core/measuring/trace.hpp>
#include <creek/linalg/task_graph.hpp>

namespace creek::tool::dense {

/// Writes a track per worker: its tasks by name, with their numbers. `session` is older than the
/// graph, empty, and used up by the call. The caller commits `file`. Throws creek::error.
void write_trace(atomic_file& file, const linalg::graph_report& graph, trace::session& session);

}  // namespace creek::tool::dense
