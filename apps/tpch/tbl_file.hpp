// SPDX-License-Identifier: Apache-2.0
// Tables from the text files that dbgen writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table.hpp"

namespace creek::tpch {

/// How one version of a file is told from another.
struct file_stamp {
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  ///< nanoseconds since 1970

  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

/// A table from text, and which text: a stamp for each of its files.
struct loaded_table {
  table content;
  std::vector<file_stamp> from;
};

/// Reads `files`, at least one, the parts of a table in their order, in parallel on the runtime
/// that this runs in, keeping the columns `wanted` (one flag a column of the schema, at least one
/// set) and checking all. Throws creek::error: "FILE: why" if one cannot be read or all are empty,
/// "FILE:LINE: column N (NAME): why" for the first record that is malformed or cut short.
/// `piece_bytes` is for tests.
[[nodiscard]] loaded_table load_tbl(const std::vector<std::string>& files,
                                    const table_schema& schema, const std::vector<bool>& wanted,
                                    std::size_t piece_bytes = std::size_t{1} << 20);

/// All columns.
[[nodiscard]] inline std::vector<bool> every_column(const table_schema& schema) {
  return std::vector<bool>(schema.columns.size(), true);
}

}  // namespace creek::tpch
