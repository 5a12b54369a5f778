// SPDX-License-Identifier: Apache-2.0
// Words and bigrams in one std::unordered_map, also of lists; prints the text for peers of other
// languages.
#include <unordered_map>
#include <vector>

#include "config.hpp"

namespace bench::count_words {
namespace {

template <class ForEach>
sample count(const settings& s, ForEach&& for_each) {
  const std::string text = text_of(s);
  std::unordered_map<std::string_view, std::uint64_t> counts;
  sample result{.work = static_cast<double>(text.size())};
  result.total_ns = timed([&] { for_each(text, [&](std::string_view key) { ++counts[key]; }); });
  key_digest digest;
  for (const auto& [key, n] : counts) digest.add(number_of(key), n);
  result.answer = digest.answer();
  return result;
}

sample list_lines(const settings& s) {
  const std::string text = text_of(s);
  std::unordered_map<std::string_view, std::vector<std::uint64_t>> lines;
  sample result{.work = static_cast<double>(text.size())};
  result.total_ns = timed([&] {
    for_each_word_of_lines(
        text, [&](std::string_view word, std::uint64_t begin) { lines[word].push_back(begin); });
  });
  key_digest digest;
  for (const auto& [word, begins] : lines) {
    digest.add(number_of(word), sum_of(begins));
  }
  result.answer = digest.answer();
  return result;
}

sample count_words(const settings& s) {
  return count(s, [](std::string_view text, auto&& f) { for_each_word(text, f); });
}

const registration words{what, count_words, print_text};
const registration real_words{real, count_words, print_text};
const registration pairs_of_words{
    bigrams,
    [](const settings& s) {
      return count(s, [](std::string_view text, auto&& f) { for_each_bigram(text, f); });
    },
    print_text};
const registration lines_by_word{index, list_lines, print_text};

}  // namespace
}  // namespace bench::count_words
