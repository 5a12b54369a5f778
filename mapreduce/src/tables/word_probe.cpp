// SPDX-License-Identifier: Apache-2.0
// Looks words up in their cache lines: the four entries are compared at once and without a branch,
// because neither the position of a word in its line nor whether it is in the cache can be
// predicted. Lines are prefetched some words ahead. Words that are new in the table, or in a later
// line because theirs was full, are rare; word_table::insert handles them.
#include "word_probe.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "word_hash.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tables/word_probe.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using bucket = word_table::bucket;
using line = word_table::line;
using segment = word_table::segment;
using counted_word = word_table::counted_word;
using word_ref = word_table::word_ref;
using detail::cache_view;

/// Returns bits 0 to 3: which entries equal `key` in the bits of `Low` and in `high`.
template <std::uint64_t Low, class Word>
HWY_INLINE unsigned match(const line& in, const Word& key) {
  const std::uint32_t wanted[3] = {static_cast<std::uint32_t>(key.low),
                                   static_cast<std::uint32_t>(key.low >> 32), key.high};
  constexpr std::uint32_t masks[3] = {static_cast<std::uint32_t>(Low),
                                      static_cast<std::uint32_t>(Low >> 32), ~std::uint32_t{0}};
  unsigned bits = 0;
#if HWY_TARGET == HWY_SCALAR
  for (unsigned i = 0; i < word_table::line_entries; ++i) {
    bool same = true;
    for (unsigned w = 0; w < 3; ++w) same &= ((in.word[w][i] ^ wanted[w]) & masks[w]) == 0;
    bits |= unsigned{same} << i;
  }
#else
  const hn::CappedTag<std::uint32_t, word_table::line_entries> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < word_table::line_entries; i += lanes) {
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
constexpr std::uint64_t tag_bits = ~word_table::address_mask;  // tag of a long word

/// Returns the first entry that matches, or 4.
HWY_INLINE unsigned first_of(unsigned bits) {
  return static_cast<unsigned>(std::countr_zero(bits | 1u << word_table::line_entries));
}

constexpr std::size_t ahead = 32;  // words between the request for a line and its use

std::size_t probe_short(const bucket& in, std::span<counted_word> words) {
  line* homes[2 * ahead];
  const auto ask = [&](std::size_t i) {
    line*& home = homes[i % (2 * ahead)];
    home = in.home(words[i].place());
    __builtin_prefetch(home, 1);
  };
  std::size_t missing = 0;
  for (std::size_t i = 0; i < std::min(ahead, words.size()); ++i) ask(i);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + ahead < words.size()) ask(i + ahead);
    line& home = *homes[i % (2 * ahead)];
    const counted_word word = words[i];
    const unsigned at = first_of(match<all_bits>(home, word));
    std::uint32_t& held = home.count[at & 3];
    // A sum that is too large for an entry is handled by the slow path.
    const bool hit = (at < 4) & (word.count() <= ~held);
    held += hit ? word.count() : 0;
    words[missing] = word;
    missing += hit ? 0 : 1;
  }
  return missing;
}

HWY_INLINE const char* text_of(std::uint64_t low) {
  return reinterpret_cast<const char*>(low & word_table::address_mask);
}

HWY_INLINE bool same_text(const char* a, const char* b, std::size_t length) {
  if (HWY_UNLIKELY(length - 8 > 24)) return length == 0 || std::memcmp(a, b, length) == 0;
  // Four loads of eight bytes cover 8 to 32 bytes; they may overlap.
  const std::size_t second = std::min<std::size_t>(8, length - 8);
  const std::size_t third = length < 16 ? 0 : length - 16;
  const auto differ = [&](std::size_t at) { return detail::load8(a + at) ^ detail::load8(b + at); };
  return (differ(0) | differ(second) | differ(third) | differ(length - 8)) == 0;
}

HWY_INLINE bool same_long(const line& in, unsigned i, const counted_word& word) {
  if (in.count[i] == 0) return false;
  const word_table::body held = in.at(i);
  const std::size_t length = word.high & 0xFF;
  if (HWY_LIKELY(length <= word_table::longest_tagged)) {
    return same_text(text_of(held.low), text_of(word.low), length);
  }
  return word_table::text_of(held) == word_table::text_of({word.low, word.high});
}

std::size_t probe_long(const bucket& in, std::span<counted_word> words) {
  line* homes[4 * ahead];
  const auto ask_line = [&](std::size_t i) {
    line*& home = homes[i % (4 * ahead)];
    home = in.home(words[i].place());
    __builtin_prefetch(home, 1);
  };
  const auto ask_text = [&](std::size_t i) {
    const line& home = *homes[i % (4 * ahead)];
    const unsigned at = first_of(match<tag_bits>(home, words[i])) & 3;
    // If none matches, this prefetches other text, which is cheaper than a mispredicted branch.
    __builtin_prefetch(text_of(home.at(at).low));
    __builtin_prefetch(text_of(words[i].low));
  };
  std::size_t missing = 0;
  for (std::size_t i = 0; i < std::min(2 * ahead, words.size()); ++i) ask_line(i);
  for (std::size_t i = 0; i < std::min(ahead, words.size()); ++i) ask_text(i);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + 2 * ahead < words.size()) ask_line(i + 2 * ahead);
    if (i + ahead < words.size()) ask_text(i + ahead);
    line& home = *homes[i % (4 * ahead)];
    const counted_word word = words[i];
    const unsigned at = first_of(match<tag_bits>(home, word));
    std::uint32_t& held = home.count[at & 3];
    if (HWY_LIKELY(at < 4 && word.count() <= ~held && same_long(home, at, word))) {
      held += word.count();
    } else {
      words[missing++] = word;
    }
  }
  return missing;
}

word_table::entry probe_segment(const bucket& in, segment& s, const counted_word& word) {
  line* const first = s.lines();
  line* const end = first + in.lines;
  for (line* l = first + in.line_of(word.place());; l = l + 1 == end ? first : l + 1) {
    if (!in.is_long) {
      const unsigned bits = match<all_bits>(*l, word);
      if (bits != 0) return {&s, l, first_of(bits)};
    } else {
      for (unsigned bits = match<tag_bits>(*l, word); bits != 0; bits &= bits - 1) {
        if (same_long(*l, first_of(bits), word)) return {&s, l, first_of(bits)};
      }
    }
    if (l->count[word_table::line_entries - 1] == 0) {
      const auto taken = [&](std::size_t i) { return std::size_t{l->count[i] != 0}; };
      return {&s, l, taken(0) + taken(1) + taken(2)};
    }
  }
}

HWY_INLINE line& home_of(std::span<line> lines, std::uint32_t hash) {
  return lines[hash % word_cache::line_count];
}

/// Returns the form of an inline word and prefetches its line.
HWY_INLINE word_ref prepare(std::span<line> lines, const hash_factors& by, const char* text,
                            std::size_t length) {
  const std::size_t kept = std::min<std::size_t>(length, 16);
  const std::uint64_t low = detail::load8(text) & detail::keep_low[kept];
  const std::uint64_t high = detail::load8(text + 8) & detail::keep_high[kept];
  const std::uint32_t hash = detail::hash_upper(low, high, by);
  __builtin_prefetch(&home_of(lines, hash), 1);
  return {low, static_cast<std::uint32_t>(high), hash};
}

constexpr std::size_t group = 64;  // words whose lines are prefetched before the first is used

/// Counts words whose lines have been prefetched.
HWY_INLINE void count_group(const cache_view& cache, std::span<const word_ref> words) {
  word_ref missing[group];
  std::size_t count = 0;
  for (const word_ref& word : words) {
    line& home = home_of(cache.lines, word.hash);
    const unsigned bits = match<all_bits>(home, word);
    // Arithmetic, so that compilers generate no branch here.
    home.count[std::countr_zero(bits | 8)] += bits != 0;
    missing[count] = word;
    count += bits == 0;
  }
  for (const word_ref& word : std::span(missing).first(count)) {
    line& home = home_of(cache.lines, word.hash);
    if (HWY_UNLIKELY(home.count[word_table::line_entries - 1] == 0)) {
      cache.owner->admit(home, word);
    } else if (cache.collected->add(word)) {
      cache.owner->hand_over(word_table::bucket_of(word.hash, false));
    }
  }
}

std::size_t probe_words(const cache_view& cache, std::span<const std::string_view> words,
                        std::string_view safe, std::uint16_t* odd) {
  const hash_factors by = *cache.by;
  const std::size_t safe_bytes = safe.size() >= 16 ? safe.size() - 15 : 0;
  std::uint16_t* odd_out = odd;
  for (std::size_t first = 0; first < words.size(); first += group) {
    word_ref asked[group];
    std::size_t count = 0;
    for (std::size_t i = first; i < std::min(first + group, words.size()); ++i) {
      const std::string_view word = words[i];
      const bool readable = static_cast<std::size_t>(word.data() - safe.data()) < safe_bytes;
      if (HWY_LIKELY(readable && word_table::is_inline(word))) {
        asked[count++] = prepare(cache.lines, by, word.data(), word.size());
      } else {
        *odd_out++ = static_cast<std::uint16_t>(i);
      }
    }
    count_group(cache, std::span(asked).first(count));
  }
  return static_cast<std::size_t>(odd_out - odd);
}

std::size_t probe_block(const cache_view& cache, const block_words& words, std::uint16_t* odd) {
  const hash_factors by = *cache.by;
  const std::size_t size = words.borders.size() / 2;
  std::uint16_t* odd_out = odd;
  for (std::size_t first = 0; first < size; first += group) {
    word_ref asked[group];
    std::size_t count = 0;
    for (std::size_t i = first; i < std::min(first + group, size); ++i) {
      const std::size_t begin = words.borders[2 * i];
      const std::size_t length = words.borders[2 * i + 1] - begin;
      asked[count] = prepare(cache.lines, by, words.text + begin, length);
      *odd_out = static_cast<std::uint16_t>(i);
      const bool is_short = length <= word_table::longest_inline;
      count += is_short;
      odd_out += !is_short;
    }
    count_group(cache, std::span(asked).first(count));
  }
  return static_cast<std::size_t>(odd_out - odd);
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce::detail {

HWY_EXPORT(probe_short);
HWY_EXPORT(probe_long);
HWY_EXPORT(probe_segment);
HWY_EXPORT(probe_words);
HWY_EXPORT(probe_block);

std::size_t count_known(const word_table::bucket& in, std::span<word_table::counted_word> words) {
  return in.is_long ? HWY_DYNAMIC_DISPATCH(probe_long)(in, words)
                    : HWY_DYNAMIC_DISPATCH(probe_short)(in, words);
}
word_table::entry find_entry(const word_table::bucket& in, word_table::segment& s,
                             const word_table::counted_word& word) {
  return HWY_DYNAMIC_DISPATCH(probe_segment)(in, s, word);
}
std::size_t count_words(const cache_view& cache, std::span<const std::string_view> words,
                        std::string_view safe, std::uint16_t* odd) {
  return HWY_DYNAMIC_DISPATCH(probe_words)(cache, words, safe, odd);
}
std::size_t count_block(const cache_view& cache, const block_words& words, std::uint16_t* odd) {
  return HWY_DYNAMIC_DISPATCH(probe_block)(cache, words, odd);
}

}  // namespace creek::mapreduce::detail
#endif
