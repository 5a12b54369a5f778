// SPDX-License-Identifier: Apache-2.0
// Tables from Parquet files.
#pragma once

#include <string>
#include <vector>

#include "tpch/loading/loaded_table.hpp"
#include "tpch/loading/table_share.hpp"

namespace creek::tpch {

/// Reads the columns `wanted` (one flag per column of the schema, at least one set) of `files`, at
/// least one, the parts of a table in their order; columns of row groups are read in parallel on
/// the runtime that this runs in. Columns are found by their names, whatever their order and the
/// case of the letters; columns that TPC-H does not have are ignored. Throws creek::error: "FILE:
/// why" if one cannot be read, is no Parquet file, or creek has no reader for it, "FILE: column N
/// (NAME): why" if a column is missing or of another type, wanted or not, and "FILE: row group G,
/// row R: column N (NAME): why", both counted from 1, for the first value, by row groups and then
/// columns, that is null or cannot be kept exactly. Of a share it reads that share of the row
/// groups.
[[nodiscard]] loaded_table load_parquet(const std::vector<std::string>& files,
                                        const table_schema& schema, const std::vector<bool>& wanted,
                                        table_share share = {});

}  // namespace creek::tpch
