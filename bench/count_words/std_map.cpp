// SPDX-License-Identifier: Apache-2.0
// Words and bigrams, and lines by word, in a std::unordered_map per thread and part of the keys.
#include <vector>

#include "config.hpp"
#include "harness/hash_maps.hpp"
#include "harness/text_shares.hpp"

namespace bench::count_words {
namespace {

template <class ForEach>
sample count(const settings& s, ForEach&& for_each) {
  const std::string text = text_of(s);
  const auto parts = shares_of_text(text, s.workers);
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
  const auto parts = shares_of_text(text, s.workers);
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

sample count_words(const settings& s) {
  return count(s, [](std::string_view text, auto&& f) { for_each_word(text, f); });
}

const registration words{what, count_words};
const registration real_words{real, count_words};
const registration pairs_of_words{
    bigrams, [](const settings& s) {
      return count(s, [](std::string_view text, auto&& f) { for_each_bigram(text, f); });
    }};
const registration lines_by_word{index, list_lines};

}  // namespace
}  // namespace bench::count_words
