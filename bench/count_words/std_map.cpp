// SPDX-License-Identifier: Apache-2.0
// Words and bigrams, and lines by word, in a std::unordered_map per thread and part of the keys.
#include <algorithm>
#include <vector>

#include "config.hpp"
#include "harness/hash_maps.hpp"

namespace bench::count_words {
namespace {

/// Returns parts of the text that end with a line, one per thread.
std::vector<std::string_view> parts_of_text(std::string_view text, unsigned threads) {
  std::vector<std::string_view> parts;
  for (unsigned i = threads; i > 0; --i) {
    const std::size_t end = std::min(text.find('\n', text.size() / i), text.size());
    const std::size_t size = i == 1 ? text.size() : std::min(end + 1, text.size());
    parts.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return parts;
}

template <class ForEach>
sample count(const settings& s, ForEach&& for_each) {
  const std::string text = text_of(s);
  const auto parts = parts_of_text(text, s.workers);
  sample result = sums_by_hash_maps<std::string_view>(
      s.workers,
      [&](unsigned self, auto&& add) {
        for_each(parts[self], [&](std::string_view key) { add(key, 1); });
      },
      number_of);
  result.work = static_cast<double>(text.size());
  return result;
}

sample list_lines(const settings& s) {
  using list = std::vector<std::uint64_t>;
  const std::string text = text_of(s);
  const auto parts = parts_of_text(text, s.workers);
  key_digest digest;
  sample result{.work = static_cast<double>(text.size())};
  result.total_ns = group_by_hash_maps<std::string_view, list>(
      s.workers,
      [&](unsigned self, auto&& value_of) {
        const auto before = static_cast<std::uint64_t>(parts[self].data() - text.data());
        for_each_word_of_lines(parts[self], [&](std::string_view word, std::uint64_t begin) {
          value_of(word).push_back(before + begin);
        });
      },
      [](list& into, list& from) { into.insert(into.end(), from.begin(), from.end()); },
      [&](std::string_view word, const list& begins) {
        digest.add(number_of(word), sum_of(begins));
      });
  result.answer = digest.answer();
  return result;
}

const registration words{what, [](const settings& s) {
                           return count(
                               s, [](std::string_view text, auto&& f) { for_each_word(text, f); });
                         }};
const registration pairs_of_words{
    bigrams, [](const settings& s) {
      return count(s, [](std::string_view text, auto&& f) { for_each_bigram(text, f); });
    }};
const registration lines_by_word{index, list_lines};

}  // namespace
}  // namespace bench::count_words
