// SPDX-License-Identifier: Apache-2.0
// Cuts of a text between the records of CSV, whose quoted fields may contain line ends.
//
// A line end ends a record if the number of quotes before it is even. So where a piece begins
// depends on all text before it. Whichever worker needs it first counts the quotes of an earlier
// piece and stores whether their number is odd. All workers compute the same answer, so nobody
// waits and nothing is locked; a piece may be counted twice if two workers need it at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Returns the position after the first line end at or after `at` and before `limit` that is not in
/// quotes, or npos. `quoted`: whether position `at` is in quotes.
[[nodiscard]] std::size_t csv_record_end(std::string_view text, std::size_t at, std::size_t limit,
                                         bool quoted) noexcept;

/// Returns the bytes of the whole records at the beginning of `text`, the first of which may have
/// begun before. `quoted`: whether the text begins in quotes.
[[nodiscard]] std::size_t whole_csv_records(std::string_view text, bool quoted = false) noexcept;

/// Facts about the pieces of one text.
class csv_cuts {
 public:
  explicit csv_cuts(std::size_t pieces) : odd_(pieces), quoted_(pieces) {}

  /// Returns the records that begin in bytes [i * step, (i + 1) * step) of `text`, which is the
  /// same in each call. Several threads may call it at once.
  [[nodiscard]] std::string_view cut(std::string_view text, std::size_t i,
                                     std::size_t step) noexcept;

 private:
  enum class answer : std::uint8_t { unknown, no, yes };

  [[nodiscard]] bool is_odd(std::string_view text, std::size_t i, std::size_t step) noexcept;
  [[nodiscard]] bool begins_quoted(std::string_view text, std::size_t i, std::size_t step) noexcept;

  // Relaxed accesses: each value follows from the text alone, and guards nothing.
  std::vector<std::atomic<answer>> odd_;     // per piece: is its number of quotes odd?
  std::vector<std::atomic<answer>> quoted_;  // per piece: does it begin in quotes?
};

}  // namespace creek::mapreduce::detail
