// SPDX-License-Identifier: Apache-2.0
// The format: one record per line, each field followed by a bar, including the last one. There is
// no quoting and no escape; bytes of text stand for themselves, except that dbgen writes no NUL.
#include "tbl_piece.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <creek/core/io/data_fault.hpp>
#include <cstring>
#include <utility>

#include "field.hpp"

namespace creek::tpch {
namespace {

const char* find_byte(const char* from, const char* end, char byte) noexcept {
  return static_cast<const char*>(std::memchr(from, byte, static_cast<std::size_t>(end - from)));
}

}  // namespace

piece_reader::piece_reader(const table_schema& schema, const std::vector<bool>& wanted)
    : schema_(schema), wanted_(wanted), columns_(schema.columns.size()) {}

void piece_reader::reset() {
  rows_ = 0;
  fault_.reset();
  for (column_values& column : columns_) column.clear();
}

std::optional<record_fault> piece_reader::read(std::string_view text, std::size_t before) {
  reset();
  fast_from_ = text.data() + (field_slack - std::min(before, field_slack));
  // One search here saves a search of every field; if there is a NUL, every field is searched.
  has_nul_ = text.find('\0') != std::string_view::npos;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    at = read_record(at, end);
    if (fault_) return fault_;
    ++rows_;
  }
  return {};
}

/// Returns where the next record begins.
const char* piece_reader::read_record(const char* at, const char* end) {
  const char* line_end = find_byte(at, end, '\n');
  ends_open_ = line_end == nullptr;
  if (ends_open_) line_end = end;
  const char* const next = ends_open_ ? end : line_end + 1;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const char* const bar = find_byte(at, line_end, '|');
    if (bar == nullptr) {
      complain(at, i,
               fmt::format("the {} ends before the bar after this field",
                           ends_open_ ? "file" : "record"));
      return next;
    }
    if (!read_field(i, {at, static_cast<std::size_t>(bar - at)})) {
      complain_about(i, {at, static_cast<std::size_t>(bar - at)});
      return next;
    }
    at = bar + 1;
  }
  if (at != line_end) {
    complain(at, columns_.size() - 1,
             fmt::format("'{}' follows this last field",
                         shown({at, static_cast<std::size_t>(line_end - at)})));
  }
  return next;
}

inline bool piece_reader::read_field(std::size_t index, std::string_view field) {
  const column_schema& column = schema_.columns[index];
  column_values& state = columns_[index];
  std::optional<std::int64_t> number;
  switch (column.holds) {
    case kind::integer:
      number = field.data() >= fast_from_ ? parse_integer(field) : parse_decimal(field, 0);
      break;
    case kind::decimal:
      number = field.data() >= fast_from_ ? parse_hundredths(field) : parse_decimal(field, 2);
      break;
    case kind::date:
      number = parse_date(field);
      break;
    case kind::category:
    case kind::text:
      if (field.size() < column.shortest || field.size() > column.longest) return false;
      if (has_nul_ && field.find('\0') != std::string_view::npos) return false;
      if (!wanted_[index]) return true;
      if (column.holds == kind::category) {
        number = state.words.number_of(field);
      } else {
        state.text += field;
        number = static_cast<std::int64_t>(field.size());
      }
      break;
  }
  if (!number) return false;
  if (wanted_[index]) state.numbers.push_back(*number);
  return true;
}

void piece_reader::complain(const char* at, std::size_t index, std::string what) {
  fault_ = record_fault{
      at, fmt::format("column {} ({}): {}", index + 1, schema_.columns[index].name, what)};
}

void piece_reader::complain_about(std::size_t index, std::string_view field) {
  const column_schema& column = schema_.columns[index];
  const auto why = [&]() -> std::string {
    if (field.find('\0') != std::string_view::npos) return "has a NUL byte";
    switch (column.holds) {
      case kind::integer:
        return "is not a whole number of 64 bits";
      case kind::decimal:
        return "is not a decimal number with at most two digits after the point";
      case kind::date:
        return "is not a date YYYY-MM-DD";
      default:
        if (field.size() < column.shortest) return "is empty";
        return fmt::format("has {} bytes, more than {}", field.size(), column.longest);
    }
  };
  complain(field.data(), index, fmt::format("'{}' {}", shown(field), why()));
}

std::vector<piece_column> piece_reader::take() {
  std::vector<piece_column> taken;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (wanted_[i]) taken.push_back(columns_[i].pack_up());
  }
  return taken;
}

}  // namespace creek::tpch
