// SPDX-License-Identifier: Apache-2.0
// Like the borders of words of white space: a run begins or ends where the mask of its bytes
// differs from itself shifted by one [Langdale 2019].
#include "word_runs.hpp"

#include <bit>
#include <creek/mapreduce/inputs/prefetch_text.hpp>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "word_runs.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::text::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Masks of 64 bytes.
struct classes {
  std::uint64_t in_run = 0;
  std::uint64_t special = 0;
  std::uint64_t capital = 0;
};

HWY_INLINE classes classify(const std::uint8_t* p, bool digits) {
  classes made;
#if HWY_TARGET == HWY_SCALAR
  for (unsigned i = 0; i < 64; ++i) {
    const std::uint8_t c = p[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    const bool letter = static_cast<std::uint8_t>((c | 0x20) - 'a') < 26;
    const bool digit = digits && static_cast<std::uint8_t>(c - '0') < 10;
    const bool special = c >= 128 || c == '\'';
    if (letter || digit || special) made.in_run |= bit;
    if (special) made.special |= bit;
    if (letter && (c & 0x20) == 0) made.capital |= bit;
  }
#else
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto a = hn::Set(d, 'a');
  const auto letters = hn::Set(d, 25);
  const auto zero = hn::Set(d, '0');
  const auto numbers = hn::Set(d, 9);
  const auto lower = hn::Set(d, 0x20);
  const auto apostrophe = hn::Set(d, '\'');
  const auto high = hn::Set(d, 0x80);
  std::uint8_t in_run[64 / 8], special[64 / 8], capital[64 / 8];
  for (std::size_t i = 0; i < 64; i += lanes) {
    const auto v = hn::LoadU(d, p + i);
    // min(x, s) == x is an unsigned x <= s; x86 has no unsigned byte comparison below AVX-512.
    const auto from_a = hn::Sub(hn::Or(v, lower), a);
    const auto letter = hn::Eq(hn::Min(from_a, letters), from_a);
    const auto from_zero = hn::Sub(v, zero);
    const auto digit = hn::Eq(hn::Min(from_zero, numbers), from_zero);
    const auto not_plain = hn::Or(hn::Eq(v, apostrophe), hn::Eq(hn::And(v, high), high));
    const auto run = hn::Or(letter, not_plain);
    hn::StoreMaskBits(d, digits ? hn::Or(run, digit) : run, in_run + i / 8);
    hn::StoreMaskBits(d, not_plain, special + i / 8);
    hn::StoreMaskBits(d, hn::And(letter, hn::Eq(hn::And(v, lower), hn::Zero(d))), capital + i / 8);
  }
  std::memcpy(&made.in_run, in_run, 8);
  std::memcpy(&made.special, special, 8);
  std::memcpy(&made.capital, capital, 8);
#endif
  return made;
}

/// Appends the positions of the set bits of `bits`, plus `base`; may write 24 more than it appends.
/// So there is no branch on their number, unless they are many.
HWY_INLINE std::uint16_t* flatten(std::uint64_t bits, unsigned base, std::uint16_t* out) {
  const int count = std::popcount(bits);
  const auto put = [&](int i) {
    out[i] = static_cast<std::uint16_t>(base + static_cast<unsigned>(std::countr_zero(bits)));
    bits &= bits - 1;
  };
  for (int i = 0; i < 24; ++i) put(i);
  for (int i = 24; i < count; ++i) put(i);
  return out + count;
}

void find_runs(const unsigned char* text, std::size_t size, bool digits, word_runs& runs) {
  std::uint16_t* out = runs.at.data();
  std::uint64_t carry = 0;  // was the byte before this group in a run?
  const auto group = [&](const std::uint8_t* bytes, std::size_t at) {
    const classes made = classify(bytes, digits);
    runs.special[at / 64] = made.special;
    runs.capital[at / 64] = made.capital;
    out = flatten(made.in_run ^ (made.in_run << 1 | carry), static_cast<unsigned>(at), out);
    carry = made.in_run >> 63;
  };
  std::size_t at = 0;
  for (; at + 64 <= size; at += 64) {
    mapreduce::prefetch_text(text + at, run_block);
    group(text + at, at);
  }
  if (at < size) {  // never read past the end: it may be the end of a mapping
    std::uint8_t rest[64] = {};
    std::memcpy(rest, text + at, size - at);
    group(rest, at);
  }
  if ((out - runs.at.data()) % 2 != 0) *out++ = static_cast<std::uint16_t>(size);
  runs.count = static_cast<std::size_t>(out - runs.at.data());
  runs.groups = (size + 63) / 64;
}

}  // namespace creek::text::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::text::detail {

HWY_EXPORT(find_runs);

void find_word_runs(const unsigned char* text, std::size_t size, bool digits,
                    word_runs& runs) noexcept {
  HWY_DYNAMIC_DISPATCH(find_runs)(text, size, digits, runs);
}

}  // namespace creek::text::detail
#endif
