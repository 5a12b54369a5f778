// SPDX-License-Identifier: Apache-2.0
// The graphs of factorizations of a square matrix by columns, found in a dry run: which task waits
// for which. The lengths of tasks come from a run (creek::linalg::measured, which also checks that
// the tasks are the same).
#pragma once

#include <creek/core/work_graph.hpp>
#include <cstddef>

namespace creek::tool::compare {

/// Returns a graph of `tasks` tasks: each panel updates all column blocks behind it, one task each.
work_graph plan_of_columns(std::size_t tasks);

/// Returns the graph of LU with partial pivoting on square blocks, `blocks` of them in a row.
work_graph plan_of_blocks(std::size_t blocks);

}  // namespace creek::tool::compare
