// SPDX-License-Identifier: Apache-2.0
// Converts the values of a Parquet column to those of a column of TPC-H.
#pragma once

#include <forward_list>
#include <string>
#include <string_view>

#include "parquet_reader.hpp"
#include "tpch/columns/piece_column.hpp"
#include "tpch/columns/schema.hpp"

namespace creek::tpch {

/// Returns the types that a column can be read from, in words; empty if `from` is one of them.
[[nodiscard]] std::string_view other_than(kind to, parquet_values from) noexcept;

/// Keeps the values of one row group. Throws parquet_fault for the first value that the column
/// cannot hold unchanged. Used by one thread.
class parquet_column final : public parquet_sink {
 public:
  parquet_column(const column_schema& to, const parquet_field& from)
      : to_(to), from_(from.holds), scale_(from.scale) {}

  void take_numbers(std::span<const std::int64_t> values) override;
  void take_doubles(std::span<const double> values) override;
  void take_texts(std::span<const std::string_view> values) override;

  /// Returns the values taken. May be called once.
  [[nodiscard]] piece_column finish();

 private:
  void take_dates(std::span<const std::int64_t> values);
  void take_rescaled(std::span<const std::int64_t> values, int digits);
  void take_text(std::string_view text);
  std::int64_t number_of_word(std::string_view text);
  [[noreturn]] void refuse(const std::string& what) const;

  const column_schema& to_;
  parquet_values from_;
  int scale_;
  column_values values_;
  std::forward_list<std::string> kept_;
};

}  // namespace creek::tpch
