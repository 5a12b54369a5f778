// SPDX-License-Identifier: Apache-2.0
// The graphs of factorizations of a square matrix by columns, found in a dry run: which task waits
// for which. How long each is, a run says (creek::linalg::measured, which also checks that the
// tasks are the same).
#pragma once

#include <creek/core/work_graph.hpp>
#include <cstddef>

namespace creek::tool::compare {

/// Each panel updates all blocks of columns behind it, a task a block; so many tasks in all.
work_graph plan_of_columns(std::size_t tasks);

/// LU with partial pivoting that updates square blocks, `blocks` of them in a row.
work_graph plan_of_blocks(std::size_t blocks);

}  // namespace creek::tool::compare
