// SPDX-License-Identifier: Apache-2.0
// Counts the lines of n bytes of Zipf text that contain each of three strings, or collects those
// that contain one. The text is in memory, and so are the lines that were found.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "../support/zipf_text.hpp"
#include "harness/key_digest.hpp"
#include "harness/workload.hpp"

namespace bench::match_lines {

inline constexpr description counting{.name = "count_matches",
                                      .about = "lines with each of three strings",
                                      .unit = "MB/s",
                                      .full = 512'000'000,
                                      .quick = 16'000'000,
                                      .smoke = 50'000,
                                      .rate = true,
                                      .scale = 1e3,
                                      .groups = "mapreduce"};
inline constexpr description filtering = like(counting, "filter_lines", "lines with a string");

/// In a line of ten, one of three hundred, and hardly any.
inline constexpr std::array<std::string_view, 3> strings{"ab", "xyz", "hello"};
inline constexpr std::string_view wanted = strings[1];

inline std::string text_of(const settings& s) {
  return creek_bench::zipf_text(static_cast<std::size_t>(s.n), 100'000);
}
inline void print_text(const settings& s, std::FILE* to) {
  const std::string text = text_of(s);
  std::fwrite(text.data(), 1, text.size(), to);
}

/// The lines with each string.
using counts = std::array<std::uint64_t, strings.size()>;
inline std::uint64_t answer_of(const counts& lines) {
  key_digest digest;
  for (std::size_t k = 0; k < lines.size(); ++k) digest.add(k + 1, lines[k]);
  return digest.answer();
}
/// The same for lines found: their number and their bytes without line ends.
inline std::uint64_t answer_of(std::uint64_t lines, std::uint64_t bytes) {
  return 1'000'003 * lines + bytes;
}

/// Calls `f(line)` with each line of the text that contains the string, without its end.
template <class F>
void for_each_line_with(std::string_view text, std::string_view string, F&& f) {
  for (std::size_t at; (at = text.find(string)) != text.npos;) {
    const std::size_t begin = text.rfind('\n', at) + 1;  // 0 if there is none
    const std::size_t end = std::min(text.find('\n', at), text.size());
    f(text.substr(begin, end - begin));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

inline void count_in(std::string_view text, counts& lines) {
  for (std::size_t k = 0; k < strings.size(); ++k) {
    for_each_line_with(text, strings[k], [&](std::string_view) { ++lines[k]; });
  }
}
inline void filter_in(std::string_view text, std::vector<std::string_view>& found) {
  for_each_line_with(text, wanted, [&](std::string_view line) { found.push_back(line); });
}

}  // namespace bench::match_lines
