// SPDX-License-Identifier: Apache-2.0
// Filter for the lines that contain a string, or those that do not.
#pragma once

#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/engine/split_source.hpp>
#include <creek/mapreduce/input.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace creek::mapreduce {

/// Level of detail of a line filter's result.
enum class filter_detail : std::uint8_t {
  counts,  ///< only how many lines
  text,    ///< also the lines; adjacent lines may be merged
  lines,   ///< also their numbers, so each line is separate
};

struct filtered_line {
  std::string_view text;  ///< with its line end, if any; in `text` detail, several lines
  std::uint64_t number;   ///< in `lines` detail: index within the piece, from 0
};

/// Lines found in one piece of text.
struct filtered_piece {
  std::uint64_t seen = 0;   ///< lines read
  std::uint64_t found = 0;  ///< lines that match
  std::vector<filtered_line> lines;
  /// Copies of lines whose text does not outlive the visit.
  std::vector<std::shared_ptr<const std::string>> copies;
};

/// The job, over texts cut at lines (text_files with units of lines): one record per piece that has
/// lines, in input order. Lines of text that stays in memory are not copied. A last line
/// without a line end is a line too.
class line_filter {
 public:
  using key_type = origin;
  using value_type = filtered_piece;
  using split_type = text_split;
  static constexpr bool may_group = true;

  struct settings {
    filter_detail detail = filter_detail::text;
    bool invert = false;  ///< select lines without the pattern
  };

  /// Throws usage_error for a pattern that is empty or contains a line end.
  line_filter(std::string pattern, settings chosen);

  template <class Emit>
  void map(const text_split& split, Emit& emit) const {
    emit(split.from, filter(split));
  }
  static void combine(filtered_piece& into, filtered_piece&& from);

 private:
  [[nodiscard]] filtered_piece filter(const text_split& split) const;

  std::string pattern_;
  settings settings_;
};

// Compiled in line_filter_run.cpp.
extern template result<line_filter> detail::run_source(const line_filter&, split_source<text_split>,
                                                       const options&);

}  // namespace creek::mapreduce

/// Sends the lines themselves; the receiver of a piece owns a copy of their text.
template <>
struct creek::wire<creek::mapreduce::filtered_piece> {
  static void put(std::vector<std::byte>& to, const mapreduce::filtered_piece& piece);
  static mapreduce::filtered_piece get(const std::byte*& at);
};
