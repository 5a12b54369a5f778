// SPDX-License-Identifier: Apache-2.0
// Joins the columns of pieces to the columns of the table.
#pragma once

#include <cstddef>
#include <vector>

#include "tbl_piece.hpp"
#include "tpch/columns/table.hpp"

namespace creek::tpch {

struct table_piece {
  std::size_t rows = 0;
  std::vector<piece_column> columns;  ///< wanted columns, in the order of the schema
};

/// Joins pieces, each of at least one column, in parallel on the runtime that this runs in. Frees
/// each piece once it is copied, so that the peak memory is little more than the table.
[[nodiscard]] table assemble(const table_schema& schema, const std::vector<bool>& wanted,
                             std::vector<table_piece> pieces);

}  // namespace creek::tpch
