// SPDX-License-Identifier: Apache-2.0
// Tables of typed columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "buffer.hpp"
#include "packed.hpp"
#include "schema.hpp"
#include "tpch/loading/source_file.hpp"

namespace creek::tpch {

/// A column in memory or in a mapped file. Any thread.
struct column {
  const column_schema* schema = nullptr;
  /// Integers, decimals, dates: the values. Categories: index of the word. Text: the offset in
  /// `bytes` at which a row's text begins, and one more value, the end of the last text.
  packed values;
  packed word_begins;      ///< categories: offset of each word in `bytes`, and the end
  std::string_view bytes;  ///< categories: the words, sorted by bytes, no duplicates; text: all

  [[nodiscard]] std::size_t words() const noexcept { return word_begins.size - 1; }
  [[nodiscard]] std::string_view word(std::size_t code) const noexcept {
    return between(word_begins, code);
  }
  /// Returns the index of a word of the dictionary, or nullopt.
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view word) const noexcept;
  /// Returns the text of a row of a category or text column.
  [[nodiscard]] std::string_view text(std::size_t row) const noexcept {
    return schema->holds == kind::text ? between(values, row) : word(values.code(row));
  }
  /// Returns the bytes that a scan of the whole column reads: all of a text, but no category words.
  [[nodiscard]] std::size_t scan_bytes() const noexcept {
    return values.bytes() + (schema->holds == kind::text ? bytes.size() : 0);
  }

 private:
  /// Returns a text within `bytes`, no longer than the schema allows, even if a file changes.
  [[nodiscard]] std::string_view between(const packed& begins, std::size_t i) const noexcept {
    const std::size_t begin = std::min(std::size_t{begins.code(i)}, bytes.size());
    const std::size_t size = std::size_t{begins.code(i + 1)} - begin;
    return bytes.substr(begin, std::min(size, schema->longest));
  }
};

/// A table, or some of its columns. Move only; any thread may read.
class table {
 public:
  explicit table(const table_schema& schema) : schema_(&schema), columns_(schema.columns.size()) {}

  [[nodiscard]] const table_schema& schema() const noexcept { return *schema_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] bool has(std::size_t index) const noexcept { return columns_[index].has_value(); }
  /// Returns a column by name. Throws usage_error if the table has none or was made without it.
  [[nodiscard]] const column& operator[](std::string_view name) const;
  [[nodiscard]] const std::optional<column>& at(std::size_t index) const { return columns_[index]; }

  void set_rows(std::size_t rows) noexcept { rows_ = rows; }
  void put(std::size_t index, column what) { columns_[index] = what; }
  /// Takes over memory that columns point into.
  void keep(buffer memory) { memory_.push_back(std::move(memory)); }
  void keep(source_file file) { file_ = std::move(file); }
  /// Returns true if the file of the columns was written to or cut short since: answers are void.
  [[nodiscard]] bool lost() const noexcept { return file_ && file_->has_changed(); }

 private:
  const table_schema* schema_;
  std::size_t rows_ = 0;
  std::vector<std::optional<column>> columns_;
  std::vector<buffer> memory_;
  std::optional<source_file> file_;
};

}  // namespace creek::tpch
