// SPDX-License-Identifier: Apache-2.0
// Which files of a folder hold a table. Generators write one, or parts with numbers from 1 on:
// dbgen -C NAME.tbl.1, tpchgen-cli --parts NAME/NAME.1.tbl or NAME/NAME.1.parquet. Other engines
// write folders of Parquet files with names of their own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace creek::tpch {

enum class file_format : unsigned char { text, parquet };

struct table_files {
  file_format format = file_format::text;
  std::vector<std::string> names;  ///< in the order of their numbers; none if there is no table
};

/// The files of a table. They lie in `folder` or in its folder named as the table, and are called
/// NAME.tbl, NAME.tbl.N, NAME.N.tbl, NAME.parquet or NAME.N.parquet; or they are all *.parquet of
/// the folder NAME or NAME.parquet, but for names that begin with `_` or `.`, in the order of the
/// numbers in their names. Other files are passed over. Throws creek::error if a number N is
/// missing, is there twice or is 0, if the table is there in more than one of these ways, or if a
/// folder cannot be read.
[[nodiscard]] table_files find_table(const std::string& folder, std::string_view table);

/// True if find_table has something to return or to complain of. Throws creek::error if a folder
/// cannot be read.
[[nodiscard]] bool has_table(const std::string& folder, std::string_view table);

}  // namespace creek::tpch
