// SPDX-License-Identifier: Apache-2.0
// Looks words up in their cache lines: the four entries are compared at once and without a branch,
// because the place of a word in its line cannot be predicted, and whether it is in the cache
// cannot either. Lines of the table are asked for some words ahead. Words that are new there or
// that stand in a later line because theirs was full are rare; word_table::insert sees to them.
#include "word_probe.hpp"

#include <bit>
#include <cstring>

#include <creek/mapreduce/detail/byte_hash.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "word_probe.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using entry = word_table::entry;
using line = word_table::line;
using partition = word_table::partition;

/// Which of four bodies agree with `key` in the bits of `Mask`, as bits 0 to 3.
template <std::uint64_t Mask>
HWY_INLINE unsigned match(const std::uint64_t* bodies, std::uint64_t key) {
  unsigned bits = 0;
#if HWY_TARGET == HWY_SCALAR
  for (unsigned i = 0; i < word_table::line_entries; ++i) {
    bits |= unsigned{((bodies[i] ^ key) & Mask) == 0} << i;
  }
#else
  const hn::CappedTag<std::uint64_t, word_table::line_entries> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto mask = hn::Set(d, Mask);
  const auto wanted = hn::Set(d, key & Mask);
  for (std::size_t i = 0; i < word_table::line_entries; i += lanes) {
    const auto same = hn::Eq(hn::And(hn::Load(d, bodies + i), mask), wanted);
    std::uint8_t part[8] = {};
    hn::StoreMaskBits(d, same, part);
    bits |= static_cast<unsigned>(part[0]) << i;
  }
#endif
  return bits;
}

/// The first entry that matches, or 4.
HWY_INLINE unsigned first_of(unsigned bits) {
  return static_cast<unsigned>(std::countr_zero(bits | 1u << word_table::line_entries));
}

/// Same length and tag.
HWY_INLINE bool same_tag(std::uint64_t meta, const entry& key) {
  return ((meta ^ key.meta) & ~word_table::count_mask) == 0;
}

constexpr std::size_t ahead = 24;  // words between the request for a line and its use

std::size_t probe_short(const partition& part, std::span<entry> keys) {
  line* homes[2 * ahead];
  const auto ask = [&](std::size_t i) {
    line*& home = homes[i % (2 * ahead)];
    home = part.home(word_table::place_of(detail::hash_padded(keys[i].body, 0)));
    __builtin_prefetch(home, 1);
  };
  std::size_t missing = 0;
  for (std::size_t i = 0; i < std::min(ahead, keys.size()); ++i) ask(i);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + ahead < keys.size()) ask(i + ahead);
    line& home = *homes[i % (2 * ahead)];
    const entry key = keys[i];
    const unsigned at = first_of(match<~std::uint64_t{0}>(home.body, key.body));
    // Entry 0 where none agrees: its length and tag may, so `at` is asked too.
    std::uint64_t& meta = home.meta[at & 3];
    if (HWY_LIKELY(at < 4 && same_tag(meta, key))) {
      meta += key.count();
    } else {
      keys[missing++] = key;
    }
  }
  return missing;
}

HWY_INLINE const char* text_of(std::uint64_t body) {
  return reinterpret_cast<const char*>(body & word_table::address_mask);
}

HWY_INLINE bool same_text(const char* a, const char* b, std::size_t length) {
  if (HWY_LIKELY(length <= 16)) {  // two overlapping loads; longer than 8 by contract
    const std::size_t last = length - 8;
    return detail::load8(a) == detail::load8(b) &&
           detail::load8(a + last) == detail::load8(b + last);
  }
  return std::memcmp(a, b, length) == 0;
}

std::size_t probe_long(const partition& part, std::span<entry> keys) {
  constexpr std::uint64_t tag = ~word_table::address_mask;
  line* homes[4 * ahead];
  const auto ask_line = [&](std::size_t i) {
    line*& home = homes[i % (4 * ahead)];
    home = part.home(keys[i].place());
    __builtin_prefetch(home, 1);
  };
  const auto ask_text = [&](std::size_t i) {
    const line& home = *homes[i % (4 * ahead)];
    const unsigned at = first_of(match<tag>(home.body, keys[i].body));
    // Where none matches this asks for some other text, which is cheaper than a missed branch.
    __builtin_prefetch(text_of(home.body[at & 3]));
    __builtin_prefetch(text_of(keys[i].body));
  };
  std::size_t missing = 0;
  for (std::size_t i = 0; i < std::min(2 * ahead, keys.size()); ++i) ask_line(i);
  for (std::size_t i = 0; i < std::min(ahead, keys.size()); ++i) ask_text(i);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + 2 * ahead < keys.size()) ask_line(i + 2 * ahead);
    if (i + ahead < keys.size()) ask_text(i + ahead);
    line& home = *homes[i % (4 * ahead)];
    const entry key = keys[i];
    const unsigned at = first_of(match<tag>(home.body, key.body));
    std::uint64_t& meta = home.meta[at & 3];
    if (HWY_LIKELY(at < 4 && same_tag(meta, key) &&
                   same_text(text_of(home.body[at]), text_of(key.body), key.short_length()))) {
      meta += key.count();
    } else {
      keys[missing++] = key;
    }
  }
  return missing;
}

HWY_INLINE word_cache::line& home_of(word_cache::line* lines, std::uint64_t hash) {
  return lines[word_table::place_of(hash) % word_cache::line_count];
}

/// Hashes the words that can be looked for and asks for their lines; returns their number.
HWY_INLINE std::size_t prepare(word_cache::line* lines, std::span<const std::string_view> words,
                               std::string_view safe, std::size_t first, std::size_t last,
                               word_cache::miss* out, std::uint16_t*& odd) {
  const std::size_t safe_bytes = safe.size() >= 16 ? safe.size() - 15 : 0;
  word_cache::miss* const begin = out;
  for (std::size_t i = first; i < last; ++i) {
    const char* text = words[i].data();
    const std::size_t n = words[i].size();
    const bool readable = static_cast<std::size_t>(text - safe.data()) < safe_bytes;
    if (HWY_UNLIKELY(!readable || n - 1 >= 16 || text[n - 1] == 0)) {
      *odd++ = static_cast<std::uint16_t>(i);
      continue;
    }
    const std::uint64_t low = detail::load8(text) & detail::keep_low[n];
    const std::uint64_t high = detail::load8(text + 8) & detail::keep_high[n];
    const std::uint64_t hash = detail::hash_padded(low, high);
    __builtin_prefetch(&home_of(lines, hash), 1);
    *out++ = {low, hash, i};
  }
  return static_cast<std::size_t>(out - begin);
}

detail::cache_misses probe_words(std::span<word_cache::line> lines,
                                 std::span<const std::string_view> words, std::string_view safe,
                                 word_cache::miss* missing, std::uint16_t* odd) {
  constexpr std::size_t group = 64;
  word_cache::miss asked[group];
  word_cache::miss* out = missing;
  std::uint16_t* odd_out = odd;
  for (std::size_t first = 0; first < words.size(); first += group) {
    const std::size_t last = std::min(first + group, words.size());
    const std::size_t count = prepare(lines.data(), words, safe, first, last, asked, odd_out);
    for (std::size_t i = 0; i < count; ++i) {
      const word_cache::miss next = asked[i];
      word_cache::line& home = home_of(lines.data(), next.hash);
      const unsigned if_short = 0u - unsigned{words[next.index].size() <= 8};
      const unsigned bits = match<~std::uint64_t{0}>(home.body, next.low) & if_short;
      // By arithmetic, so that compilers put no branch here.
      home.count[std::countr_zero(bits | 8)] += bits != 0;
      *out = next;
      out += bits == 0;
    }
  }
  return {static_cast<std::size_t>(out - missing), static_cast<std::size_t>(odd_out - odd)};
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce::detail {

HWY_EXPORT(probe_short);
HWY_EXPORT(probe_long);
HWY_EXPORT(probe_words);

std::size_t count_short(const word_table::partition& part, std::span<word_table::entry> keys) {
  return HWY_DYNAMIC_DISPATCH(probe_short)(part, keys);
}
std::size_t count_long(const word_table::partition& part, std::span<word_table::entry> keys) {
  return HWY_DYNAMIC_DISPATCH(probe_long)(part, keys);
}
cache_misses probe_cache(std::span<word_cache::line> lines, std::span<const std::string_view> words,
                         std::string_view safe, word_cache::miss* missing, std::uint16_t* odd) {
  return HWY_DYNAMIC_DISPATCH(probe_words)(lines, words, safe, missing, odd);
}

}  // namespace creek::mapreduce::detail
#endif
