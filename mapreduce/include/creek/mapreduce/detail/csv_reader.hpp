// SPDX-License-Identifier: Apache-2.0
// Parser of numbers in the lines of text files, as specified in csv_columns.hpp.
#pragma once

#include <creek/mapreduce/inputs/csv_format.hpp>
#include <creek/mapreduce/inputs/files.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace creek::mapreduce::detail {

/// Throws usage_error for an invalid format; `exactly` as below.
void check_csv_format(const csv_format& format, std::size_t exactly);

/// Facts read from the first line of a file.
struct csv_facts {
  char separator = ',';
  std::size_t wanted = 0;
  std::vector<std::size_t> places;  // per field: position in a row, or `not_wanted`
  std::vector<std::string> names;   // per field, if there is a header
  std::uint64_t begin = 0;          // offset of the first record in the file
};

/// Facts of the files that are not mapped.
class csv_streams {
 public:
  void put(std::uint32_t file, csv_facts facts);
  /// Returns nothing before the first line that is not blank.
  [[nodiscard]] std::optional<csv_facts> facts_of(std::uint32_t file) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uint32_t, csv_facts> facts_;
};

/// Reads the splits of one visit of text_files.
class csv_reader {
 public:
  /// `exactly`: required number of columns, or 0. All arguments must outlive this object.
  csv_reader(const text_files& files, csv_streams& streams, const csv_format& format,
             std::size_t exactly)
      : files_(files), streams_(streams), format_(format), exactly_(exactly) {}

  /// Learns the facts of a file that is not mapped from its pieces, in their order. Returns false
  /// if it needs the next one.
  [[nodiscard]] bool inspect(const text_split& split);

  /// Appends the numbers of the split's records. Throws creek::error for the first fault.
  template <class Number>
  void read(const text_split& split, std::vector<Number>& to);

  /// Returns the number of columns per row; 0 before the first row.
  [[nodiscard]] std::size_t columns() const noexcept { return file_ ? file_->wanted : 0; }

 private:
  static constexpr std::size_t max_columns = std::size_t{1} << 20;
  static constexpr std::size_t not_wanted = ~std::size_t{0};

  struct field {
    std::string_view text;
    const char* next;  // start of the next field, or null after the last
  };

  void learn(const text_split& split);
  [[nodiscard]] bool learn_names(const text_split& split, std::string_view line);
  void choose(const text_split& split, const char* line, const std::vector<std::string>& fields);
  template <class Number>
  void read_line(const text_split& split, std::string_view line, std::vector<Number>& to);
  [[nodiscard]] field next_field(const text_split& split, const char* at, const char* end,
                                 std::size_t index) const;
  [[noreturn]] void complain(const text_split& split, const char* at,
                             const std::string& what) const;
  [[noreturn]] void complain_about(const text_split& split, const char* at, std::size_t index,
                                   const std::string& what) const;

  const text_files& files_;
  csv_streams& streams_;
  const csv_format& format_;
  std::size_t exactly_;
  std::uint32_t number_ = 0;  // of the file that `file_` is about
  std::optional<csv_facts> file_;
};

}  // namespace creek::mapreduce::detail
