// SPDX-License-Identifier: Apache-2.0
// Increments the counts of words that a table has: this file only, but for a word that
// frequent_words::admit() finds added since it was looked up. It looks words up in their cache
// lines: the four entries are compared at once and without a branch, because neither the position
// of a word in its line nor whether it is frequent can be predicted. Lines are prefetched some
// words ahead. Words that are new in the table, or in a later line because theirs was full, are
// rare; word_bucket::insert handles them.
#include "increment_counts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "word_hash.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "word_table/increment_counts.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using detail::counted_word;
using detail::hashed_word;
using detail::mapper_counts;
using detail::word_directory;
using detail::word_key;
using detail::word_line;
using detail::word_segment;

/// Returns bits 0 to 3: which entries equal `key` in the bits of `Low` and in `high`.
template <std::uint64_t Low, class Word>
HWY_INLINE unsigned match(const word_line& in, const Word& key) {
  const std::uint32_t wanted[3] = {static_cast<std::uint32_t>(key.low),
                                   static_cast<std::uint32_t>(key.low >> 32), key.high};
  constexpr std::uint32_t masks[3] = {static_cast<std::uint32_t>(Low),
                                      static_cast<std::uint32_t>(Low >> 32), ~std::uint32_t{0}};
  unsigned bits = 0;
#if HWY_TARGET == HWY_SCALAR
  for (unsigned i = 0; i < word_line::entries; ++i) {
    bool same = true;
    for (unsigned w = 0; w < 3; ++w) same &= ((in.word[w][i] ^ wanted[w]) & masks[w]) == 0;
    bits |= unsigned{same} << i;
  }
#else
  const hn::CappedTag<std::uint32_t, word_line::entries> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < word_line::entries; i += lanes) {
    auto differ = hn::Zero(d);
    for (unsigned w = 0; w < 3; ++w) {
      if (masks[w] == 0) continue;
      auto bad = hn::Xor(hn::Load(d, in.word[w] + i), hn::Set(d, wanted[w]));
      if (masks[w] != ~std::uint32_t{0}) bad = hn::And(bad, hn::Set(d, masks[w]));
      differ = hn::Or(differ, bad);
    }
    std::uint8_t part[8] = {};
    hn::StoreMaskBits(d, hn::Eq(differ, hn::Zero(d)), part);
    bits |= static_cast<unsigned>(part[0]) << i;
  }
#endif
  return bits;
}

constexpr std::uint64_t all_bits = ~std::uint64_t{0};
constexpr std::uint64_t tag_bits = ~detail::address_mask;  // tag of a long word

/// Returns the first entry that matches, or 4.
HWY_INLINE unsigned first_of(unsigned bits) {
  return static_cast<unsigned>(std::countr_zero(bits | 1u << word_line::entries));
}

constexpr std::size_t ahead = 32;  // words between the request for a line and its use

std::size_t increment_short(const word_directory& in, std::span<counted_word> words) {
  word_line* lines[2 * ahead];
  const auto ask = [&](std::size_t i) {
    word_line*& line = lines[i % (2 * ahead)];
    line = in.find_line(words[i].index());
    __builtin_prefetch(line, 1);
  };
  std::size_t missing = 0;
  for (std::size_t i = 0; i < std::min(ahead, words.size()); ++i) ask(i);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + ahead < words.size()) ask(i + ahead);
    word_line& line = *lines[i % (2 * ahead)];
    const counted_word word = words[i];
    const unsigned at = first_of(match<all_bits>(line, word));
    std::uint32_t& held = line.count[at & 3];
    // A sum that is too large for an entry is handled by the slow path.
    const bool hit = (at < 4) & (word.count() <= ~held);
    held += hit ? word.count() : 0;
    words[missing] = word;
    missing += hit ? 0 : 1;
  }
  return missing;
}

HWY_INLINE const char* text_of(std::uint64_t low) {
  return reinterpret_cast<const char*>(low & detail::address_mask);
}

HWY_INLINE bool same_text(const char* a, const char* b, std::size_t length) {
  if (HWY_UNLIKELY(length - 8 > 24)) return length == 0 || std::memcmp(a, b, length) == 0;
  // Four loads of eight bytes cover 8 to 32 bytes; they may overlap.
  const std::size_t second = std::min<std::size_t>(8, length - 8);
  const std::size_t third = length < 16 ? 0 : length - 16;
  const auto differ = [&](std::size_t at) { return detail::load8(a + at) ^ detail::load8(b + at); };
  return (differ(0) | differ(second) | differ(third) | differ(length - 8)) == 0;
}

HWY_INLINE bool same_long(const word_line& in, unsigned i, const counted_word& word) {
  if (in.count[i] == 0) return false;
  const word_key held = in.at(i);
  const std::size_t length = word.high & 0xFF;
  if (HWY_LIKELY(length <= detail::longest_tagged)) {
    return same_text(text_of(held.low), text_of(word.low), length);
  }
  return held.long_text() == word_key{word.low, word.high}.long_text();
}

std::size_t increment_long(const word_directory& in, std::span<counted_word> words) {
  word_line* lines[4 * ahead];
  const auto ask_line = [&](std::size_t i) {
    word_line*& line = lines[i % (4 * ahead)];
    line = in.find_line(words[i].index());
    __builtin_prefetch(line, 1);
  };
  const auto ask_text = [&](std::size_t i) {
    const word_line& line = *lines[i % (4 * ahead)];
    const unsigned at = first_of(match<tag_bits>(line, words[i])) & 3;
    // If none matches, this prefetches other text, which is cheaper than a mispredicted branch.
    __builtin_prefetch(text_of(line.at(at).low));
    __builtin_prefetch(text_of(words[i].low));
  };
  std::size_t missing = 0;
  for (std::size_t i = 0; i < std::min(2 * ahead, words.size()); ++i) ask_line(i);
  for (std::size_t i = 0; i < std::min(ahead, words.size()); ++i) ask_text(i);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + 2 * ahead < words.size()) ask_line(i + 2 * ahead);
    if (i + ahead < words.size()) ask_text(i + ahead);
    word_line& line = *lines[i % (4 * ahead)];
    const counted_word word = words[i];
    const unsigned at = first_of(match<tag_bits>(line, word));
    std::uint32_t& held = line.count[at & 3];
    if (HWY_LIKELY(at < 4 && word.count() <= ~held && same_long(line, at, word))) {
      held += word.count();
    } else {
      words[missing++] = word;
    }
  }
  return missing;
}

detail::word_bucket::entry find_in_segment(const word_directory& in, word_segment& s,
                                           const counted_word& word) {
  const std::span<word_line> lines = in.lines_of(s);
  word_line* const end = lines.data() + lines.size();
  for (word_line* l = s.lines() + in.first_line(word.index());;
       l = l + 1 == end ? lines.data() : l + 1) {
    if (!in.is_long()) {
      const unsigned bits = match<all_bits>(*l, word);
      if (bits != 0) return {&s, l, first_of(bits)};
    } else {
      for (unsigned bits = match<tag_bits>(*l, word); bits != 0; bits &= bits - 1) {
        if (same_long(*l, first_of(bits), word)) return {&s, l, first_of(bits)};
      }
    }
    if (!l->full()) {
      const auto taken = [&](std::size_t i) { return std::size_t{l->count[i] != 0}; };
      return {&s, l, taken(0) + taken(1) + taken(2)};
    }
  }
}

HWY_INLINE word_line& line_of(std::span<word_line> lines, std::uint32_t hash) {
  return lines[hash % detail::frequent_words::line_count];
}

/// Returns the form of an inline word and prefetches its line.
HWY_INLINE hashed_word prepare(std::span<word_line> lines, const hash_factors& by, const char* text,
                               std::size_t length) {
  const std::size_t kept = std::min<std::size_t>(length, 16);
  const std::uint64_t low = detail::load8(text) & detail::keep_low[kept];
  const std::uint64_t high = detail::load8(text + 8) & detail::keep_high[kept];
  const std::uint32_t hash = detail::hash_upper(low, high, by);
  __builtin_prefetch(&line_of(lines, hash), 1);
  return {low, static_cast<std::uint32_t>(high), hash};
}

constexpr std::size_t group = 64;  // words whose lines are prefetched before the first is used

/// Counts words whose lines have been prefetched.
HWY_INLINE void increment_group(const mapper_counts& counts, std::span<const hashed_word> words) {
  hashed_word missing[group];
  std::size_t count = 0;
  for (const hashed_word& word : words) {
    word_line& line = line_of(counts.frequent, word.hash);
    const unsigned bits = match<all_bits>(line, word);
    // Arithmetic, so that compilers generate no branch here.
    line.count[std::countr_zero(bits | 8)] += bits != 0;
    missing[count] = word;
    count += bits == 0;
  }
  for (const hashed_word& word : std::span(missing).first(count)) {
    word_line& line = line_of(counts.frequent, word.hash);
    if (HWY_UNLIKELY(!line.full())) {
      detail::frequent_words::admit(line, word);
    } else if (counts.batches->add(word)) {
      counts.writer->hand_over(detail::bucket_of(word.hash, false));
    }
  }
}

std::size_t increment_words(const mapper_counts& counts, std::span<const std::string_view> words,
                            std::string_view safe, std::uint16_t* rest) {
  const hash_factors by = *counts.by;
  const std::size_t safe_bytes = safe.size() >= 16 ? safe.size() - 15 : 0;
  std::uint16_t* rest_end = rest;
  for (std::size_t first = 0; first < words.size(); first += group) {
    hashed_word asked[group];
    std::size_t count = 0;
    for (std::size_t i = first; i < std::min(first + group, words.size()); ++i) {
      const std::string_view word = words[i];
      const bool readable = static_cast<std::size_t>(word.data() - safe.data()) < safe_bytes;
      if (HWY_LIKELY(readable && detail::is_inline(word))) {
        asked[count++] = prepare(counts.frequent, by, word.data(), word.size());
      } else {
        *rest_end++ = static_cast<std::uint16_t>(i);
      }
    }
    increment_group(counts, std::span(asked).first(count));
  }
  return static_cast<std::size_t>(rest_end - rest);
}

std::size_t increment_block(const mapper_counts& counts, const block_words& words,
                            std::uint16_t* rest) {
  const hash_factors by = *counts.by;
  const std::size_t size = words.borders.size() / 2;
  std::uint16_t* rest_end = rest;
  for (std::size_t first = 0; first < size; first += group) {
    hashed_word asked[group];
    std::size_t count = 0;
    for (std::size_t i = first; i < std::min(first + group, size); ++i) {
      const std::size_t begin = words.borders[2 * i];
      const std::size_t length = words.borders[2 * i + 1] - begin;
      asked[count] = prepare(counts.frequent, by, words.text + begin, length);
      *rest_end = static_cast<std::uint16_t>(i);
      const bool is_short = length <= detail::longest_inline;
      count += is_short;
      rest_end += !is_short;
    }
    increment_group(counts, std::span(asked).first(count));
  }
  return static_cast<std::size_t>(rest_end - rest);
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce::detail {

HWY_EXPORT(increment_short);
HWY_EXPORT(increment_long);
HWY_EXPORT(find_in_segment);
HWY_EXPORT(increment_words);
HWY_EXPORT(increment_block);

std::size_t increment_frequent(const mapper_counts& counts, std::span<const std::string_view> words,
                               std::string_view safe, std::uint16_t* rest) {
  return HWY_DYNAMIC_DISPATCH(increment_words)(counts, words, safe, rest);
}
std::size_t increment_frequent(const mapper_counts& counts, const block_words& words,
                               std::uint16_t* rest) {
  return HWY_DYNAMIC_DISPATCH(increment_block)(counts, words, rest);
}
std::size_t increment_known(const word_directory& in, std::span<counted_word> words) {
  return in.is_long() ? HWY_DYNAMIC_DISPATCH(increment_long)(in, words)
                      : HWY_DYNAMIC_DISPATCH(increment_short)(in, words);
}
void increment(word_bucket& in, const word_bucket::entry& at, std::uint64_t count) {
  std::uint32_t& held = at.count();
  const std::uint64_t room = std::numeric_limits<std::uint32_t>::max() - held;
  if (count <= room) {
    held += static_cast<std::uint32_t>(count);
  } else {
    in.carried()[at.key()] += held - 1 + count;
    held = 1;
  }
}
word_bucket::entry find_entry(const word_directory& in, word_segment& s, const counted_word& word) {
  return HWY_DYNAMIC_DISPATCH(find_in_segment)(in, s, word);
}

}  // namespace creek::mapreduce::detail
#endif
