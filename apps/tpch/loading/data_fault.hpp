// SPDX-License-Identifier: Apache-2.0
// Errors for files with wrong content.
#pragma once

#include <string>
#include <system_error>

namespace creek::tpch {

enum class data_fault {
  malformed = 1,  ///< a .tbl file that dbgen would not have written
  corrupt,        ///< a cache file that is damaged or of another version
  foreign,        ///< a Parquet file with other content, or nothing readable
};

[[nodiscard]] std::error_code make_error_code(data_fault fault) noexcept;

/// Throws creek::error with `what`, which names the file and, if known, the line.
[[noreturn]] void fail(data_fault fault, const std::string& what);

}  // namespace creek::tpch

template <>
struct std::is_error_code_enum<creek::tpch::data_fault> : std::true_type {};
