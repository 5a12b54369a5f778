// SPDX-License-Identifier: Apache-2.0
// Reads tables from the text files that dbgen writes.
#pragma once

#include <string>
#include <vector>

#include "loaded_table.hpp"
#include "table_share.hpp"

namespace creek::tpch {

inline constexpr std::size_t tbl_piece_bytes = std::size_t{1} << 20;

/// Reads `files`, at least one, the parts of a table in their order, in parallel on the runtime
/// that this runs in. Keeps the columns `wanted` (one flag per column of the schema, at least one
/// set) and checks all. Throws creek::error: "FILE: why" if one cannot be read or all are empty,
/// "FILE:LINE: column N (NAME): why" for the first record that is malformed or cut short. Of a
/// share it reads and checks the records that begin in that share of all bytes. `piece_bytes` is
/// for tests.
[[nodiscard]] loaded_table load_tbl(const std::vector<std::string>& files,
                                    const table_schema& schema, const std::vector<bool>& wanted,
                                    std::size_t piece_bytes = tbl_piece_bytes,
                                    table_share share = {});

}  // namespace creek::tpch
