// SPDX-License-Identifier: Apache-2.0
// What becomes of words that are not in a mapper's cache.
#include <creek/mapreduce/word_cache.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

#include <creek/mapreduce/detail/byte_hash.hpp>
#include <creek/mapreduce/key_store.hpp>
#include "word_probe.hpp"

namespace creek::mapreduce {
namespace {

using entry = word_table::entry;

// A count in the cache is two: in the low bits since the last look at which words are rare, and
// above what came before.
constexpr unsigned recent_bits = 24;
constexpr std::uint64_t recent_mask = (1ull << recent_bits) - 1;
constexpr std::uint64_t words_between_drops = 1u << 18;  // less than recent_mask, batch included

std::uint64_t whole(std::uint64_t count) noexcept {
  return (count >> recent_bits) + (count & recent_mask);
}

}  // namespace

word_cache::word_cache(word_table& table)
    : table_(&table),
      next_drop_(words_between_drops),
      collections_(2 * word_table::partitions),
      lines_(line_count) {}

void word_cache::source(std::string_view text, bool stable) noexcept {
  text_ = text;
  stable_ = stable;
}

void word_cache::count_words() {
  std::array<miss, batch> missing;
  std::array<std::uint16_t, batch> odd;
  const std::size_t words = std::exchange(waiting_, 0);
  const auto found = detail::probe_cache(lines_, std::span(words_).first(words), text_,
                                         missing.data(), odd.data());
  emitted_ += words - found.odd;
  for (const miss& next : std::span(missing).first(found.words)) {
    const std::string_view word = words_[next.index];
    const bool is_long = !word_table::is_inline(word.size());
    if (!is_long && admit(next)) continue;
    const std::uint64_t body = is_long ? reinterpret_cast<std::uintptr_t>(word.data()) : next.low;
    collect(word_table::make_entry(body, word.size(), next.hash, 1),
            word_table::part_of(next.hash));
  }
  for (const std::uint16_t i : std::span(odd).first(found.odd)) add_odd(words_[i], 1);
  if (emitted_ >= next_drop_) drop_rare();
}

/// Takes a short word into the cache if its line has room.
bool word_cache::admit(const miss& next) {
  line& home = lines_[word_table::place_of(next.hash) % line_count];
  if (__builtin_expect(home.body[3] != 0, 1)) return false;
  for (std::size_t i = 0;; ++i) {
    if (home.body[i] != 0 && home.body[i] != next.low) continue;
    home.body[i] = next.low;
    ++home.count[i];
    return true;
  }
}

void word_cache::add_odd(std::string_view word, std::uint64_t count) {
  ++emitted_;
  borrowed_ |= !(stable_ && lies_in(text_, word));
  const std::uint64_t hash = detail::hash_word(word);
  if (word.size() > word_table::longest_tagged) {
    return table_->add_huge(word, hash, count, stable_ ? text_ : std::string_view{});
  }
  std::uint64_t body = reinterpret_cast<std::uintptr_t>(word.data());
  if (word.size() <= 8) {
    body = 0;
    if (!word.empty()) std::memcpy(&body, word.data(), word.size());
  }
  collect(word_table::make_entry(body, word.size(), hash, count), word_table::part_of(hash));
}

void word_cache::collect(const entry& key, std::size_t part) {
  const std::size_t bucket = 2 * part + static_cast<std::size_t>(key.short_length() > 8);
  collections_[bucket].keys[lengths_[bucket]] = key;
  if (++lengths_[bucket] == collected) hand_over(bucket);
}

void word_cache::hand_over(std::size_t bucket) {
  const std::size_t length = std::exchange(lengths_[bucket], 0);
  if (length == 0) return;
  table_->add(bucket / 2, bucket % 2 != 0, std::span(collections_[bucket].keys).first(length),
              stable_ ? text_ : std::string_view{});
}

void word_cache::flush() {
  count_words();
  if (!stable_ || borrowed_) {
    for (std::size_t part = 0; part < word_table::partitions; ++part) hand_over(2 * part + 1);
  }
  borrowed_ = false;
}

/// Makes room for words that have become frequent: those met less than twice since the last time
/// go.
void word_cache::drop_rare() {
  next_drop_ = emitted_ + words_between_drops;
  for (line& l : lines_) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < 4 && l.body[i] != 0; ++i) {
      const std::uint64_t body = l.body[i];
      const std::uint64_t count = l.count[i];
      if ((count & recent_mask) >= 2) {
        l.body[kept] = body;
        l.count[kept++] = whole(count) << recent_bits;
        continue;
      }
      const auto length = static_cast<std::size_t>(8 - std::countl_zero(body) / 8);
      const std::uint64_t hash = detail::hash_padded(body, 0);
      collect(word_table::make_entry(body, length, hash, whole(count)), word_table::part_of(hash));
    }
    for (std::size_t i = kept; i < 4; ++i) l.body[i] = l.count[i] = 0;
  }
}

void word_cache::finish() {
  for (line& l : lines_) {
    for (std::size_t i = 0; i < 4; ++i) l.count[i] = whole(l.count[i]) << recent_bits;
  }
  drop_rare();
}

void word_cache::drain(std::size_t part) {
  hand_over(2 * part);
  hand_over(2 * part + 1);
}

}  // namespace creek::mapreduce
