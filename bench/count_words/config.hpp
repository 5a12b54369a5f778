// SPDX-License-Identifier: Apache-2.0
// Counts the words, or the pairs of words that follow each other in a line, of n bytes of Zipf text
// with a million different words, or lists for each word where the lines begin that have it. Counts
// the words of text of this machine, too. The text is in memory, and so is the result, in no order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "../support/zipf_text.hpp"
#include "harness/key_digest.hpp"
#include "harness/real_text.hpp"
#include "harness/workload.hpp"

namespace bench::count_words {

inline constexpr description what{.name = "count_words",
                                  .about = "words of Zipf text, a million different ones",
                                  .unit = "MB/s",
                                  .full = {64'000'000, 512'000'000},
                                  .quick = 8'000'000,
                                  .smoke = 50'000,
                                  .rate = true,
                                  .scale = 1e3,
                                  .groups = "mapreduce"};

inline constexpr description real =
    like(what, "count_words_real", "words of documentation and headers of this machine");

inline constexpr description bigrams{.name = "count_bigrams",
                                     .about = "pairs of words that follow each other in a line",
                                     .unit = "MB/s",
                                     .full = 16'000'000,
                                     .quick = 4'000'000,
                                     .smoke = 50'000,
                                     .rate = true,
                                     .scale = 1e3,
                                     .groups = "mapreduce"};

inline constexpr description index =
    like(bigrams, "inverted_index", "for each word, where the lines with it begin");

inline std::string text_of(const settings& s) {
  if (s.workload == real.name) return real_text(static_cast<std::size_t>(s.n));
  return creek_bench::zipf_text(static_cast<std::size_t>(s.n), 1'000'000);
}
inline void print_text(const settings& s, std::FILE* to) {
  const std::string text = text_of(s);
  std::fwrite(text.data(), 1, text.size(), to);
}

/// The number of a word or bigram in the answer.
inline std::uint64_t number_of(std::string_view key) {
  return key.size() * 256 + static_cast<unsigned char>(key.front());
}

/// The sum of a list in the answer.
inline std::uint64_t sum_of(const std::vector<std::uint64_t>& begins) {
  return std::accumulate(begins.begin(), begins.end(), std::uint64_t{0});
}

/// Calls `f(word)` with each word of the text.
template <class F>
void for_each_word(std::string_view text, F&& f) {
  constexpr std::string_view space = " \n";
  for (std::size_t begin; (begin = text.find_first_not_of(space)) != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(space, begin), text.size());
    f(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
}

/// Calls `f(word, begin)` with each word of the text and the position where its line begins.
template <class F>
void for_each_word_of_lines(std::string_view text, F&& f) {
  for (std::size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    for_each_word(text.substr(begin, end - begin),
                  [&](std::string_view word) { f(word, std::uint64_t{begin}); });
  }
}

/// Calls `f(bigram)` with each bigram of the text; a view from the first word to the end of the
/// second. Words are separated by one blank, lines end with a line feed.
template <class F>
void for_each_bigram(std::string_view text, F&& f) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + (line.size() < text.size() ? 1 : 0));
    std::size_t first = 0, second = line.find(' ');
    while (second != line.npos && second + 1 < line.size()) {
      const std::size_t end = std::min(line.find(' ', second + 1), line.size());
      f(line.substr(first, end - first));
      first = second + 1;
      second = end == line.size() ? line.npos : end;
    }
  }
}

}  // namespace bench::count_words
