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
#include "source_file.hpp"

namespace creek::tpch {

/// A column as it lies in memory or in a mapped file. Any thread.
struct column {
  const column_schema* schema = nullptr;
  /// Integers, decimals, dates: the values. Categories: index of the word. Text: where the text of
  /// a row begins in `bytes`, and one more value, where the last one ends.
  packed values;
  packed word_begins;      ///< categories: where a word begins in `bytes`, and one more value
  std::string_view bytes;  ///< categories: the words, sorted by bytes, none twice; text: all of it

  [[nodiscard]] std::size_t words() const noexcept { return word_begins.size - 1; }
  [[nodiscard]] std::string_view word(std::size_t code) const noexcept {
    return between(word_begins, code);
  }
  /// Index of a word of the dictionary, or nothing.
  [[nodiscard]] std::optional<std::uint64_t> find(std::string_view word) const noexcept;
  /// The text of a row of a category or text column.
  [[nodiscard]] std::string_view text(std::size_t row) const noexcept {
    return schema->holds == kind::text ? between(values, row) : word(values.code(row));
  }
  /// Bytes that a scan of the whole column reads: all of a text, but not the words of a category.
  [[nodiscard]] std::size_t scan_bytes() const noexcept {
    return values.bytes() + (schema->holds == kind::text ? bytes.size() : 0);
  }

 private:
  /// Within `bytes` and no longer than the schema allows, also where a file changes meanwhile.
  [[nodiscard]] std::string_view between(const packed& begins, std::size_t i) const noexcept {
    const std::size_t begin = std::min(std::size_t{begins.code(i)}, bytes.size());
    const std::size_t size = std::size_t{begins.code(i + 1)} - begin;
    return bytes.substr(begin, std::min(size, schema->longest));
  }
};

/// A table, whole or some of its columns. Move only; reading is for any thread.
class table {
 public:
  explicit table(const table_schema& schema) : schema_(&schema), columns_(schema.columns.size()) {}

  [[nodiscard]] const table_schema& schema() const noexcept { return *schema_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] bool has(std::size_t index) const noexcept { return columns_[index].has_value(); }
  /// A column by name. Throws usage_error if the table has none or was made without it.
  [[nodiscard]] const column& operator[](std::string_view name) const;
  [[nodiscard]] const std::optional<column>& at(std::size_t index) const { return columns_[index]; }

  void set_rows(std::size_t rows) noexcept { rows_ = rows; }
  void put(std::size_t index, column what) { columns_[index] = what; }
  /// Memory that columns point into.
  void keep(buffer memory) { memory_.push_back(std::move(memory)); }
  void keep(source_file file) { file_ = std::move(file); }
  /// True if the file under the columns was written to or cut short since: answers are then void.
  [[nodiscard]] bool lost() const noexcept { return file_ && file_->has_changed(); }

 private:
  const table_schema* schema_;
  std::size_t rows_ = 0;
  std::vector<std::optional<column>> columns_;
  std::vector<buffer> memory_;
  std::optional<source_file> file_;
};

}  // namespace creek::tpch
