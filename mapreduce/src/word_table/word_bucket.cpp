// SPDX-License-Identifier: Apache-2.0
// Inserts new words. Words that are there already are counted by increment_counts.cpp.
#include <creek/mapreduce/word_table/word_bucket.hpp>

#include <cerrno>

#include <creek/core/error.hpp>
#include <creek/mapreduce/tables/key_store.hpp>
#include "increment_counts.hpp"

namespace creek::mapreduce::detail {
namespace {

/// Copies the bytes of a new long word next to the other words, which are compared often; the text
/// is large and far away. Only very long words, rare and expensive to copy, stay in the text.
std::uint64_t keep(byte_arena& arena, std::string_view word, std::string_view stable) {
  constexpr std::size_t max_copied = 32;
  if (word.size() <= max_copied || !lies_in(stable, word)) word = arena.keep(word);
  const void* address = word.data();
  if (word.size() > longest_tagged) address = arena.keep_object(word);
  const std::uint64_t bits = reinterpret_cast<std::uintptr_t>(address);
  if (bits > address_mask) throw error(EOVERFLOW, "word table: addresses of more than 48 bits");
  return bits;
}

}  // namespace

void word_bucket::add(std::span<counted_word> words, std::string_view stable) {
  const std::lock_guard guard(lock_);
  words_.begin();
  const auto others = words.first(increment_known(words_, words));
  // They are in the next line, or new: prefetch all before inserting the first.
  for (const counted_word& word : others) {
    word_line* const line = words_.find_line(word.index());
    __builtin_prefetch(words_.segment_of(word.index()), 1);
    __builtin_prefetch(line, 1);
    __builtin_prefetch(line + 1, 1);
  }
  for (const counted_word& word : others) insert(word, word.count(), stable);
}

void word_bucket::add(const hashed_word& word, std::uint64_t count, std::string_view stable) {
  const std::lock_guard guard(lock_);
  words_.begin();
  insert(counted_word::make(word, 0), count, stable);
}

bool word_bucket::verify() const noexcept {
  std::size_t used = 0;
  for (const word_segment* s : words_.segments()) used += s->used;
  return used == size_ && words_.verify();
}

void word_bucket::insert(counted_word word, std::uint64_t count, std::string_view stable) {
  entry at{};
  for (word_segment* s = words_.segment_of(word.index()); s != nullptr; s = s->overflow) {
    at = find_entry(words_, *s, word);
    if (at.count() != 0) return increment(*this, at, count);
  }
  if (words_.is_long()) {
    const std::string_view text = word_key{word.low, word.high}.long_text();
    word.low = keep(arena_, text, stable) | (word.low & ~address_mask);
  }
  if (words_.full(*at.segment)) at = find_entry(words_, *words_.make_room(word.index()), word);
  at.line->put(at.i, {word.low, word.high}, 1);
  ++at.segment->used;
  ++size_;
  if (count > 1) increment(*this, at, count - 1);
}

}  // namespace creek::mapreduce::detail
