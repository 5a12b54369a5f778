// SPDX-License-Identifier: Apache-2.0
// The eight tables of TPC-H as data: the name, type and storage of each column.
// Source: [TPC-H 3.0.1], clause 1.4.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace creek::tpch {

enum class kind : unsigned char {
  integer,   ///< identifier or integer; 64 bits in memory, narrower where the values allow
  decimal,   ///< decimal(15,2), as a whole number of hundredths
  date,      ///< YYYY-MM-DD, as days since 1970-01-01
  category,  ///< text of few different values, as an index into a sorted dictionary
  text,      ///< any other text
};

struct column_schema {
  std::string_view name;
  kind holds = kind::integer;
  std::size_t longest = 0;   ///< bytes; category and text only
  std::size_t shortest = 0;  ///< 1 for columns of one letter, which is never missing
};

struct table_schema {
  std::string_view name;
  std::span<const column_schema> columns;

  /// Returns the index of a column. Throws usage_error if there is none of that name.
  [[nodiscard]] std::size_t at(std::string_view column) const;
};

/// Returns all tables, in the order of the specification.
[[nodiscard]] std::span<const table_schema> tables() noexcept;

/// Returns the table of that name. Throws usage_error if there is none.
[[nodiscard]] const table_schema& table_named(std::string_view name);

}  // namespace creek::tpch
