// SPDX-License-Identifier: Apache-2.0
// The graph of a factorization of a square matrix by columns, found in a dry run: which task waits
// for which.
#pragma once

#include <creek/core/work_graph.hpp>
#include <cstddef>

namespace creek::tool::dense {

/// Returns a graph of `tasks` tasks: each panel updates all column blocks behind it, one task each.
work_graph plan_of_columns(std::size_t tasks);

}  // namespace creek::tool::dense
