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

/// A table from text, and which text.
struct loaded_table {
  table content;
  file_stamp from;
};

/// Reads `file` in parallel on the runtime that this runs in, keeping the columns `wanted` (one
/// flag a column of the schema, at least one set) and checking all. Throws creek::error:
/// "FILE: why" if it cannot be read or is empty, "FILE:LINE: column N (NAME): why" for the first
/// record that is malformed or cut short. `piece_bytes` is for tests.
[[nodiscard]] loaded_table load_tbl(const std::string& file, const table_schema& schema,
                                    const std::vector<bool>& wanted,
                                    std::size_t piece_bytes = std::size_t{1} << 20);

/// All columns.
[[nodiscard]] inline std::vector<bool> every_column(const table_schema& schema) {
  return std::vector<bool>(schema.columns.size(), true);
}

}  // namespace creek::tpch
