// SPDX-License-Identifier: Apache-2.0
// One piece of a .tbl file, from text to columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "piece_column.hpp"
#include "schema.hpp"

namespace creek::tpch {

/// An error in a record, and its place in the text.
struct record_fault {
  const char* at = nullptr;  ///< a place in the record
  std::string what;
};

/// Reads pieces. One thread; keep one for several pieces, it holds on to its memory.
class piece_reader {
 public:
  /// Columns not wanted are checked all the same, but not kept.
  piece_reader(const table_schema& schema, const std::vector<bool>& wanted);

  /// Reads whole records; `text` begins with one. Each ends with a line end, the last one may lack
  /// it. `before`: how many bytes lie before `text` in the file, which may be read. Returns the
  /// first fault, if any.
  [[nodiscard]] std::optional<record_fault> read(std::string_view text, std::size_t before);

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  /// The columns of the last piece, those wanted in the order of the schema. Once a piece.
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
  const char* fast_from_ = nullptr;  // fields that begin here or later have the slack before them
  bool has_nul_ = false;
  bool ends_open_ = false;  // the record at hand has no line end
  std::optional<record_fault> fault_;
};

}  // namespace creek::tpch
