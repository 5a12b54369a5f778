// SPDX-License-Identifier: Apache-2.0
// Number of occurrences of each of several strings: a job that fills an array (dense.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <creek/mapreduce/engine/split_source.hpp>
#include <creek/mapreduce/input.hpp>

namespace creek::mapreduce {

struct match_counts {
  std::uint64_t occurrences = 0;  ///< positions where the string begins, overlaps included
  std::uint64_t lines = 0;        ///< lines with at least one occurrence
  friend bool operator==(const match_counts&, const match_counts&) = default;
};

/// Adds the counts of pattern k in `text`, which cuts no line, to into[k]. Makes one pass over the
/// text per pattern.
void count_matches(std::string_view text, std::span<const std::string> patterns,
                   std::span<match_counts> into) noexcept;

/// Throws usage_error for a pattern that is empty or contains a line end.
void check_pattern(std::string_view pattern);

/// The job, over texts cut at lines (text_files with units of lines). Key k belongs to pattern k.
/// Strings are bytes; none may be empty or contain a line end.
class string_match {
 public:
  using key_type = std::uint32_t;
  using value_type = match_counts;
  using split_type = text_split;

  /// Throws like check_pattern.
  explicit string_match(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {
    for (const std::string& pattern : patterns_) check_pattern(pattern);
  }

  [[nodiscard]] std::size_t dense_keys() const { return patterns_.size(); }
  void fill(std::string_view text, std::span<match_counts> into) const noexcept {
    count_matches(text, patterns_, into);
  }
  static void combine(match_counts& into, match_counts from) noexcept {
    into.occurrences += from.occurrences;
    into.lines += from.lines;
  }

 private:
  std::vector<std::string> patterns_;
};

// Compiled in string_match_run.cpp.
extern template result<string_match> detail::run_source(const string_match&,
                                                        split_source<text_split>, const options&);

}  // namespace creek::mapreduce
