// SPDX-License-Identifier: Apache-2.0
// Columns of numbers in text files as the input of a run: CSV as in [RFC 4180], and variants with
// other separators or with blanks between columns.
//
// A line is a record. Fields may be quoted and then contain separators and doubled quotes, but not
// line ends: a quote must be closed on its line. Lines end with \n or \r\n; the last line end is
// optional; blank lines are skipped. A line may have any length, and up to 1 048 576 fields.
// Blanks around numbers are allowed. Every record of a file must have as many fields as the first;
// fields of columns that are not requested may hold any bytes. Numbers are decimal, finite and in
// range.
#pragma once

#include <concepts>
#include <creek/mapreduce/detail/csv_reader.hpp>
#include <creek/mapreduce/inputs/csv_format.hpp>
#include <creek/mapreduce/inputs/files.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Consecutive records.
template <class Number>
struct csv_rows {
  std::span<const Number> values;  ///< rows x columns, by rows
  std::size_t columns;
  origin from;  ///< position of the text they were read from
  const text_files* files;

  [[nodiscard]] std::size_t size_bytes() const { return values.size_bytes(); }
  [[nodiscard]] const std::string& file_name() const { return files->name(from.file); }
};

/// Text files as rows of float or double, one number per requested column. Finds and reads files
/// like text_files, in parallel, including compressed files and standard input. A malformed record
/// ends the run with creek::error "FILE:LINE: column N (NAME): what is wrong"; of several malformed
/// records in a file the first one is reported, for any number of workers.
template <class Number>
requires std::same_as<Number, float> || std::same_as<Number, double>
class csv_columns {
 public:
  using split_type = csv_rows<Number>;

  /// Throws like text_files, and usage_error for an invalid format.
  explicit csv_columns(const std::vector<std::string>& names, csv_format format = {},
                       text_files::settings chosen = {})
      : csv_columns(names, std::move(format), std::move(chosen), 0) {}

  [[nodiscard]] std::size_t splits() const noexcept { return files_.splits(); }
  /// Returns the bytes of text, like text_files::bytes.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return files_.bytes(); }
  /// Calls `f(csv_rows<Number>)` with one or more rows at a time.
  template <class F>
  void visit(std::size_t i, F&& f) {
    detail::csv_reader reader(files_, streams_, format_, exactly_);
    std::vector<Number> values;
    files_.visit(i, [&](const text_split& split) { read(reader, split, values, f); });
  }
  /// Does the same by text_files::visit_alone.
  template <class F>
  void visit_alone(std::size_t i, F&& f) {
    detail::csv_reader reader(files_, streams_, format_, exactly_);
    std::vector<Number> values;
    files_.visit_alone(i, [&](const text_split& split) { read(reader, split, values, f); });
  }
  /// Returns the files found, for reports.
  [[nodiscard]] const text_files& files() const noexcept { return files_; }

 protected:
  /// `exactly`: required number of columns; 0 accepts any.
  csv_columns(const std::vector<std::string>& names, csv_format format, text_files::settings chosen,
              std::size_t exactly)
      : format_(std::move(format)), exactly_(exactly), files_(names, by_lines(std::move(chosen))) {
    detail::check_csv_format(format_, exactly_);
  }

 private:
  text_files::settings by_lines(text_files::settings chosen) {
    chosen.units = text_units::lines;
    chosen.inspect = [this](const text_split& split) {
      return detail::csv_reader(files_, streams_, format_, exactly_).inspect(split);
    };
    return chosen;
  }
  template <class F>
  void read(detail::csv_reader& reader, const text_split& split, std::vector<Number>& values,
            F& f) const {
    values.clear();
    reader.read(split, values);
    if (!values.empty()) f(csv_rows<Number>{values, reader.columns(), split.from, &files_});
  }

  csv_format format_;
  std::size_t exactly_;
  detail::csv_streams streams_;
  text_files files_;
};

/// Same with records as structs of nothing but Numbers, one per column.
template <class Record, class Number = double>
class csv_records : private csv_columns<Number> {
  static_assert(std::is_trivially_copyable_v<Record> && std::is_standard_layout_v<Record>);
  static_assert(sizeof(Record) % sizeof(Number) == 0 && alignof(Record) == alignof(Number));

 public:
  using split_type = std::span<const Record>;

  explicit csv_records(const std::vector<std::string>& names, csv_format format = {},
                       text_files::settings chosen = {})
      : csv_columns<Number>(names, std::move(format), std::move(chosen),
                            sizeof(Record) / sizeof(Number)) {}

  using csv_columns<Number>::splits, csv_columns<Number>::bytes, csv_columns<Number>::files;
  /// Calls `f(std::span<const Record>)` with one or more records at a time.
  template <class F>
  void visit(std::size_t i, F&& f) {
    csv_columns<Number>::visit(i, as_records(f));
  }
  /// Does the same by text_files::visit_alone.
  template <class F>
  void visit_alone(std::size_t i, F&& f) {
    csv_columns<Number>::visit_alone(i, as_records(f));
  }

 private:
  template <class F>
  static auto as_records(F& f) {
    return [&f](const csv_rows<Number>& rows) {
      f(std::span(reinterpret_cast<const Record*>(rows.values.data()),
                  rows.values.size_bytes() / sizeof(Record)));
    };
  }
};

}  // namespace creek::mapreduce
