// SPDX-License-Identifier: Apache-2.0
// Handles words that are not in a mapper's cache.
#include <creek/mapreduce/tables/word_cache.hpp>

#include <cstring>
#include <utility>

#include <creek/mapreduce/tables/key_store.hpp>
#include "word_hash.hpp"
#include "word_probe.hpp"

namespace creek::mapreduce {
namespace {

constexpr std::uint64_t words_between_drops = 1u << 19;
constexpr std::uint32_t rare = 3;  // words counted less often are rare

}  // namespace

word_cache::word_cache(word_table& table)
    : table_(&table), next_drop_(words_between_drops), lines_(line_count), before_(line_count) {}

void word_cache::source(std::string_view text, bool stable) noexcept {
  text_ = text;
  stable_ = stable;
}

void word_cache::count_words() {
  std::array<std::uint16_t, batch> odd;
  const auto words = std::span(words_).first(std::exchange(waiting_, 0));
  const std::size_t left = detail::count_words(
      {lines_, &collected_, this, &table_->secret().factors}, words, text_, odd.data());
  emitted_ += words.size() - left;
  for (const std::uint16_t i : std::span(odd).first(left)) count_odd(words[i], 1);
  if (emitted_ >= next_drop_) drop_rare(rare);
}

void word_cache::count_all(std::string_view text) {
  for_each_block_of_words(
      text, [this](const block_words& words) { count_block(words); },
      [this](std::string_view word) { count_odd(word, 1); });
}

void word_cache::count_block(const block_words& words) {
  const auto word = [&](std::size_t i) {
    const std::size_t begin = words.borders[2 * i];
    return std::string_view(words.text + begin, words.borders[2 * i + 1] - begin);
  };
  const std::size_t size = words.borders.size() / 2;
  if (size == 0) return;
  const bool readable = word(size - 1).data() + 16 <= text_.data() + text_.size();
  if (!readable || words.has_nul) {
    for (std::size_t i = 0; i < size; ++i) (*this)(word(i));
    return;
  }
  std::array<std::uint16_t, word_block / 2> odd;
  const std::size_t left = detail::count_block(
      {lines_, &collected_, this, &table_->secret().factors}, words, odd.data());
  emitted_ += size - left;
  for (const std::uint16_t i : std::span(odd).first(left)) count_odd(word(i), 1);
  if (emitted_ >= next_drop_) drop_rare(rare);
}

void word_cache::admit(word_table::line& home, const word_table::word_ref& word) noexcept {
  const word_table::body what{word.low, word.high};
  std::size_t i = 0;  // the word may have been added since the lookup
  while (home.count[i] != 0 && home.at(i) != what) ++i;
  home.put(i, what, home.count[i] + 1);
}

void word_cache::count_odd(std::string_view word, std::uint64_t count) {
  ++emitted_;
  const std::uint64_t hash = detail::hash_word(word, table_->secret());
  if (word_table::is_inline(word)) {
    word_table::word_ref ref{0, 0, static_cast<std::uint32_t>(hash >> 32)};
    std::memcpy(&ref, word.data(), word.size());
    return collect(ref, false, count);
  }
  if (word.size() > word_table::longest_tagged) {
    const auto ref = word_table::make_long(&word, word_table::longest_tagged + 1, hash);
    return table_->add(word_table::bucket_of(ref.hash, true), ref, count, stable_text());
  }
  borrowed_ |= !(stable_ && lies_in(text_, word));
  collect(word_table::make_long(word.data(), word.size(), hash), true, count);
}

void word_cache::collect(const word_table::word_ref& word, bool is_long, std::uint64_t count) {
  const std::size_t bucket = word_table::bucket_of(word.hash, is_long);
  if (count > word_table::most_on_the_way) {
    table_->add(bucket, word, count, stable_text());
  } else if (collected_.add(word, static_cast<std::uint32_t>(count), is_long)) {
    hand_over(bucket);
  }
}

void word_cache::hand_over(std::size_t bucket) {
  const auto words = collected_.take(bucket);
  if (!words.empty()) table_->add(bucket, words, stable_text());
}

void word_cache::flush() {
  count_words();
  if (!stable_ || borrowed_) {
    for (std::size_t part = 0; part < word_table::partitions; ++part) hand_over(2 * part + 1);
  }
  borrowed_ = false;
}

/// Removes words that were counted less often than `least` times since the last check, to make room
/// for words that have become frequent.
void word_cache::drop_rare(std::uint32_t least) {
  next_drop_ = emitted_ + words_between_drops;
  for (std::size_t at = 0; at < line_count; ++at) {
    word_table::line& line = lines_[at];
    auto& before = before_[at];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < word_table::line_entries && line.count[i] != 0; ++i) {
      const word_table::body what = line.at(i);
      const std::uint32_t count = line.count[i];
      if (count >= least) {
        before[kept] = before[i] + count - 1;
        line.put(kept++, what, 1);
      } else {
        const std::uint32_t hash =
            detail::hash_upper(what.low, what.high, table_->secret().factors);
        collect({what.low, what.high, hash}, false, before[i] + count);
      }
    }
    for (std::size_t i = kept; i < word_table::line_entries; ++i) {
      line.put(i, {}, 0);
      before[i] = 0;
    }
  }
}

void word_cache::finish() {
  drop_rare(UINT32_MAX);
}

void word_cache::drain(std::size_t part) {
  hand_over(2 * part);
  hand_over(2 * part + 1);
}

}  // namespace creek::mapreduce
