// SPDX-License-Identifier: Apache-2.0
// Fields of text in CSV as in [RFC 4180]: quoted fields may contain separators, line ends and
// doubled quotes. For columns of numbers see csv_columns.hpp.
//
// Records end with \n or \r\n; the last line end is optional; blank lines are skipped. Fields are
// any bytes, with the blanks around them. A field with a quote must be quoted as a whole.
#pragma once

#include <creek/core/charge.hpp>
#include <creek/mapreduce/input.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace creek::mapreduce {

struct csv_options {
  char separator = ',';
  /// Whether the first line of a file is a header, which is skipped.
  bool header = false;
  /// Required number of fields per record; 0 accepts any.
  std::size_t fields = 0;
};

/// Fields of a record, without quotes. Those with doubled quotes are views into a buffer, the
/// others into the split. All are valid during the call that gets them.
struct csv_record : std::span<const std::string_view> {
  std::string_view text;  ///< the record in the split, without its line end
};

namespace detail {

/// Reads the records of a split one by one.
class csv_fields {
 public:
  /// Throws usage_error if the separator is a quote or part of a line end.
  csv_fields(const text_split& split, const csv_options& chosen);

  /// Reads a record. Returns false at the end; throws malformed_text.
  [[nodiscard]] bool next();
  [[nodiscard]] csv_record record() const noexcept { return {fields_, text_}; }

 private:
  struct copied {
    std::size_t field, begin;  // number of the field, its position in copies_
  };

  void skip_line() noexcept;
  [[nodiscard]] const char* read_quoted(const char* at);
  [[nodiscard]] const char* read_plain(const char* at);
  void keep(std::string_view quoted);
  [[noreturn]] void complain(const char* at, std::string_view what) const;

  const char* at_;
  const char* end_;
  csv_options chosen_;
  std::string_view text_;
  std::vector<std::string_view> fields_;
  std::vector<copied> copied_;
  std::string copies_;
};

}  // namespace detail

/// Calls `f(const csv_record&)` for every record of a split in order. The input must be cut at
/// text_units::csv_records or, if no quotes contain line ends, at lines; `{text}` is a split that
/// begins a file. Skips a byte order mark. Throws malformed_text for a quote within a field that
/// begins with none, for anything but a separator behind a closing quote, for a quote that is not
/// closed, and for a wrong number of fields.
template <class F>
void for_each_csv_record(const text_split& split, F&& f, const csv_options& chosen = {}) {
  charge(work::byte_scanned, static_cast<std::int64_t>(split.text.size()));
  detail::csv_fields reader(split, chosen);
  while (reader.next()) f(reader.record());
}

}  // namespace creek::mapreduce
