// SPDX-License-Identifier: Apache-2.0
// Which files of a folder hold a table. Generators write one, or parts with numbers from 1 on:
// dbgen -C NAME.tbl.1, tpchgen-cli --parts NAME/NAME.1.tbl.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace creek::tpch {

/// The files of a table in the order of their numbers, none if there are none. They lie in `folder`
/// or in its folder named as the table, and are called NAME.tbl, NAME.tbl.N or NAME.N.tbl; other
/// files are passed over. Throws creek::error if a number is missing, is there twice or is 0, if
/// the table is there in more than one of these ways, or if a folder cannot be read.
[[nodiscard]] std::vector<std::string> find_table(const std::string& folder,
                                                  std::string_view table);

/// True if find_table has something to return or to complain of. Throws creek::error if a folder
/// cannot be read.
[[nodiscard]] bool has_table(const std::string& folder, std::string_view table);

}  // namespace creek::tpch
