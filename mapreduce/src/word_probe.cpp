// SPDX-License-Identifier: Apache-2.0
// Looks a key up in its cache line: the four entries are compared at once and without a branch,
// because the place of a word in its line cannot be predicted. Words that are new or that stand in
// a later line because theirs was full are rare; they stay in the queue for word_table::insert.
#include "word_probe.hpp"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "word_probe.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using entry = word_table::entry;
using pending = word_table::pending;
using line = word_table::line;

/// The entry of `home` whose body agrees with `key` in the bits of `Mask`, or 4 if none does.
template <std::uint64_t Mask>
HWY_INLINE unsigned match(const line& home, const entry& key) {
  unsigned bits = 1u << word_table::line_entries;
#if HWY_TARGET == HWY_SCALAR
  for (unsigned i = 0; i < word_table::line_entries; ++i) {
    bits |= unsigned{((home.body[i] ^ key.body) & Mask) == 0} << i;
  }
#else
  const hn::CappedTag<std::uint64_t, word_table::line_entries> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto mask = hn::Set(d, Mask);
  const auto wanted = hn::Set(d, key.body & Mask);
  for (std::size_t i = 0; i < word_table::line_entries; i += lanes) {
    const auto same = hn::Eq(hn::And(hn::Load(d, home.body + i), mask), wanted);
    std::uint8_t part[8] = {};
    hn::StoreMaskBits(d, same, part);
    bits |= static_cast<unsigned>(part[0]) << i;
  }
#endif
  return static_cast<unsigned>(std::countr_zero(bits));
}

/// Same length and tag.
HWY_INLINE bool same_tag(std::uint64_t meta, const entry& key) {
  return ((meta ^ key.meta) & ~word_table::count_mask) == 0;
}

void probe_short(word_table::queue& q) {
  std::size_t missing = 0;
  for (std::size_t i = 0; i < q.length; ++i) {
    const pending next = q.keys[i];
    const unsigned at = match<~std::uint64_t{0}>(*next.home, next.key);
    // Entry 0 where none agrees: its length and tag may, so `at` is asked too.
    std::uint64_t& meta = next.home->meta[at & 3];
    if (HWY_LIKELY(at < 4 && same_tag(meta, next.key))) {
      meta += next.key.count();
    } else {
      __builtin_prefetch(next.home + 1);
      q.keys[missing++] = next;
    }
  }
  q.length = missing;
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

void probe_long(word_table::queue& q) {
  for (std::size_t i = 0; i < q.length; ++i) {
    const pending& next = q.keys[i];
    const unsigned at = match<~word_table::address_mask>(*next.home, next.key);
    // Where none matches this asks for some other text, which is cheaper than a missed branch.
    __builtin_prefetch(text_of(next.home->body[at & 3]));
    __builtin_prefetch(text_of(next.key.body));
  }
  std::size_t missing = 0;
  for (std::size_t i = 0; i < q.length; ++i) {
    const pending next = q.keys[i];
    const unsigned at = match<~word_table::address_mask>(*next.home, next.key);
    std::uint64_t& meta = next.home->meta[at & 3];
    if (HWY_LIKELY(at < 4 && same_tag(meta, next.key) &&
                   same_text(text_of(next.home->body[at]), text_of(next.key.body),
                             next.key.short_length()))) {
      meta += next.key.count();
    } else {
      __builtin_prefetch(next.home + 1);
      q.keys[missing++] = next;
    }
  }
  q.length = missing;
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce::detail {

HWY_EXPORT(probe_short);
HWY_EXPORT(probe_long);

void count_short(word_table::queue& q) {
  HWY_DYNAMIC_DISPATCH(probe_short)(q);
}
void count_long(word_table::queue& q) {
  HWY_DYNAMIC_DISPATCH(probe_long)(q);
}

}  // namespace creek::mapreduce::detail
#endif
