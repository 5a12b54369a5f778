// SPDX-License-Identifier: Apache-2.0
// Finds where words begin and end. 64 bytes are classified to a 64-bit mask of separators; the
// borders are the bits where the mask differs from itself shifted by one, and are written out
// sixteen at a time so that the usual line of text costs no branch miss (the way simdjson flattens
// its masks: Langdale and Lemire, VLDB Journal 2019, doi:10.1007/s00778-019-00578-5).
#include <creek/mapreduce/words.hpp>

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "word_borders.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Bit i is set where byte i of the 64 at `p` is white space.
HWY_INLINE std::uint64_t separators(const std::uint8_t* p) {
#if HWY_TARGET == HWY_SCALAR
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < 64; ++i) {
    bits |= std::uint64_t{is_space(static_cast<char>(p[i]))} << i;
  }
  return bits;
#else
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto blank = hn::Set(d, ' ');
  const auto tab = hn::Set(d, '\t');
  const auto span = hn::Set(d, '\r' - '\t');
  std::uint64_t bits = 0;
  std::uint8_t part[64];
  for (std::size_t i = 0; i < 64; i += lanes) {
    const auto v = hn::LoadU(d, p + i);
    const auto control = hn::Sub(v, tab);
    // min(x, s) == x is an unsigned x <= s; x86 has no unsigned byte comparison below AVX-512.
    const auto space = hn::Or(hn::Eq(v, blank), hn::Eq(hn::Min(control, span), control));
    hn::StoreMaskBits(d, space, part + i / 8);
  }
  std::memcpy(&bits, part, sizeof(bits));
  return bits;
#endif
}

/// Appends the positions of the set bits of `bits`, plus `base`; may write 16 more than it appends.
HWY_INLINE std::uint16_t* flatten(std::uint64_t bits, unsigned base, std::uint16_t* out) {
  const int count = std::popcount(bits);
  const auto put = [&](int i) {
    out[i] = static_cast<std::uint16_t>(base + static_cast<unsigned>(std::countr_zero(bits)));
    bits &= bits - 1;
  };
  for (int i = 0; i < 16; ++i) put(i);
  if (HWY_UNLIKELY(count > 16)) {
    for (int i = 16; i < 24; ++i) put(i);
    for (int i = 24; i < count; ++i) put(i);
  }
  return out + count;
}

std::size_t find_borders(std::string_view text, bool& in_word, border_list& borders) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(text.data());
  std::uint16_t* out = borders.data();
  std::uint64_t carry = in_word ? 0 : 1;  // was the byte before this group a separator?
  const auto group = [&](const std::uint8_t* bytes, std::size_t at) {
    const std::uint64_t space = separators(bytes);
    out = flatten(space ^ (space << 1 | carry), static_cast<unsigned>(at), out);
    carry = space >> 63;
  };
  std::size_t at = 0;
  for (; at + 64 <= text.size(); at += 64) group(p + at, at);
  if (at < text.size()) {  // never read past the end: it may be the end of a mapping
    std::uint8_t rest[64];
    std::memset(rest, ' ', sizeof(rest));
    std::memcpy(rest, p + at, text.size() - at);
    group(rest, at);
  }
  in_word = carry == 0;
  return static_cast<std::size_t>(out - borders.data());
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce {

HWY_EXPORT(find_borders);

std::size_t word_borders(std::string_view text, bool& in_word, border_list& borders) noexcept {
  return HWY_DYNAMIC_DISPATCH(find_borders)(text, in_word, borders);
}

}  // namespace creek::mapreduce
#endif
