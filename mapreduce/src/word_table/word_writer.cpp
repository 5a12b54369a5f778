// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/word_table/word_writer.hpp>

#include <cstring>
#include <utility>

#include <creek/mapreduce/tables/key_store.hpp>
#include "increment_counts.hpp"
#include "word_hash.hpp"

namespace creek::mapreduce {
namespace {

constexpr std::uint64_t words_between_drops = 1u << 19;
constexpr std::uint32_t rare = 3;  // words counted less often are rare

}  // namespace

word_writer::word_writer(word_table& table) : table_(&table), next_drop_(words_between_drops) {}

void word_writer::source(std::string_view text, bool stable) noexcept {
  text_ = text;
  stable_ = stable;
}

void word_writer::count_words() {
  std::array<std::uint16_t, max_waiting> rest;
  const auto words = std::span(words_).first(std::exchange(waiting_, 0));
  const std::size_t left = detail::increment_frequent(
      {frequent_.lines(), &batches_, this, &table_->secret().factors}, words, text_, rest.data());
  count_rest(std::span(rest).first(left), words.size(), [&](std::size_t i) { return words[i]; });
}

void word_writer::count_all(std::string_view text) {
  for_each_block_of_words(
      text, [this](const block_words& words) { count_block(words); },
      [this](std::string_view word) { count_singly(word, 1); });
}

void word_writer::count_block(const block_words& words) {
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
  std::array<std::uint16_t, word_block / 2> rest;
  const std::size_t left = detail::increment_frequent(
      {frequent_.lines(), &batches_, this, &table_->secret().factors}, words, rest.data());
  count_rest(std::span(rest).first(left), size, word);
}

/// Counts the words with the indices `rest`, after the others of `words` words have been counted.
template <class Word>
void word_writer::count_rest(std::span<const std::uint16_t> rest, std::size_t words, Word&& word) {
  emitted_ += words - rest.size();
  for (const std::uint16_t i : rest) count_singly(word(i), 1);
  if (emitted_ >= next_drop_) drop_rare(rare);
}

void word_writer::count_singly(std::string_view word, std::uint64_t count) {
  ++emitted_;
  const std::uint64_t hash = detail::hash_word(word, table_->secret());
  if (detail::is_inline(word)) {
    detail::hashed_word key{0, 0, static_cast<std::uint32_t>(hash >> 32)};
    std::memcpy(&key, word.data(), word.size());
    return add_to_batch(key, false, count);
  }
  if (word.size() > detail::longest_tagged) {
    const auto key = detail::hashed_word::make_long(&word, detail::longest_tagged + 1, hash);
    return table_->bucket(detail::bucket_of(key.hash, true)).add(key, count, stable_text());
  }
  borrowed_ |= !(stable_ && lies_in(text_, word));
  add_to_batch(detail::hashed_word::make_long(word.data(), word.size(), hash), true, count);
}

void word_writer::add_to_batch(const detail::hashed_word& word, bool is_long, std::uint64_t count) {
  const std::size_t bucket = detail::bucket_of(word.hash, is_long);
  if (count > detail::counted_word::max_count) [[unlikely]] {
    table_->bucket(bucket).add(word, count, stable_text());
  } else if (batches_.add(word, static_cast<std::uint32_t>(count), is_long)) [[unlikely]] {
    hand_over(bucket);
  }
}

// Not inlined into callers that rarely call it.
[[gnu::noinline]] void word_writer::hand_over(std::size_t bucket) {
  const auto words = batches_.take(bucket);
  if (!words.empty()) table_->bucket(bucket).add(words, stable_text());
}

void word_writer::flush() {
  count_words();
  if (!stable_ || borrowed_) {
    for (std::size_t part = 0; part < word_table::partitions; ++part) hand_over(2 * part + 1);
  }
  borrowed_ = false;
}

void word_writer::drop_rare(std::uint32_t least) {
  next_drop_ = emitted_ + words_between_drops;
  frequent_.drop_rare(least, [this](const detail::word_key& key, std::uint64_t count) {
    const std::uint32_t hash = detail::hash_upper(key.low, key.high, table_->secret().factors);
    add_to_batch({key.low, key.high, hash}, false, count);
  });
}

void word_writer::finish() {
  drop_rare(UINT32_MAX);
}

void word_writer::drain(std::size_t part) {
  hand_over(2 * part);
  hand_over(2 * part + 1);
}

}  // namespace creek::mapreduce
