// SPDX-License-Identifier: Apache-2.0
// Converts one piece of a .tbl file from text to columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tpch/columns/piece_column.hpp"
#include "tpch/columns/schema.hpp"

namespace creek::tpch {

/// An error in a record, and its position in the text.
struct record_fault {
  const char* at = nullptr;  ///< a position in the record
  std::string what;
};

/// Reads pieces. Used by one thread; reuse it for several pieces, since it keeps its memory.
class piece_reader {
 public:
  /// Columns that are not wanted are checked, but not kept.
  piece_reader(const table_schema& schema, const std::vector<bool>& wanted);

  /// Reads whole records from the start of `text`. Each ends with a line end, which the last one
  /// may lack. `before` is the number of bytes of the file before `text`, which may be read.
  /// Returns the first fault, if any.
  [[nodiscard]] std::optional<record_fault> read(std::string_view text, std::size_t before);

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// Returns the wanted columns of the last piece, in the schema's order. Call it once per piece.
  [[nodiscard]] std::vector<piece_column> take();

 private:
  const char* read_record(const char* at, const char* end);
  bool read_field(std::size_t index, std::string_view field);
  void reset();
  void complain(const char* at, std::size_t index, std::string what);
  void complain_about(std::size_t index, std::string_view field);

  const table_schema& schema_;
  const std::vector<bool>& wanted_;
  std::vector<column_values> columns_;
  std::size_t rows_ = 0;
  const char* fast_from_ = nullptr;  // fields from here on have the slack before them
  bool has_nul_ = false;
  bool ends_open_ = false;  // the current record has no line end
  std::optional<record_fault> fault_;
};

}  // namespace creek::tpch
