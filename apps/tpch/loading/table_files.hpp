// SPDX-License-Identifier: Apache-2.0
// Finds the files of a folder that hold a table. Generators write one file, or parts numbered from
// 1: dbgen -C NAME.tbl.1, tpchgen-cli --parts NAME/NAME.1.tbl or NAME/NAME.1.parquet. Other engines
// write folders of Parquet files with names of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace creek::tpch {

enum class file_format : unsigned char { text, parquet };

struct table_files {
  file_format format = file_format::text;
  std::vector<std::string> names;  ///< in the order of their numbers; empty if there is no table
};

/// Returns the files of a table. They lie in `folder` or in its folder named as the table, and are
/// called NAME.tbl, NAME.tbl.N, NAME.N.tbl, NAME.parquet or NAME.N.parquet; or they are all
/// *.parquet of the folder NAME or NAME.parquet, except names that begin with `_` or `.`, in the
/// order of the numbers in their names. Ignores other files. Throws creek::error if a number N is
/// missing, occurs twice or is 0, if the table exists in more than one of these ways, or if a
/// folder cannot be read.
[[nodiscard]] table_files find_table(const std::string& folder, std::string_view table);

/// Returns true if find_table would return files or throw for their names. Throws creek::error if a
/// folder cannot be read.
[[nodiscard]] bool has_table(const std::string& folder, std::string_view table);

}  // namespace creek::tpch
