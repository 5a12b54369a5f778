// SPDX-License-Identifier: Apache-2.0
// Finds where words begin and end. 64 bytes are classified to a 64-bit mask of separators; the
// borders are the bits where the mask differs from itself shifted by one. Their positions are
// written without a branch on their number: if the CPU can compress a vector of bytes, the
// positions 0 to 63 are compressed by the mask; else a fixed number is extracted bit by bit, as in
// simdjson [Langdale 2019].
#include <creek/mapreduce/inputs/prefetch_text.hpp>
#include <creek/mapreduce/inputs/words.hpp>

#include <bit>
#include <cstring>

#define HWY_WANT_AVX3_DL  // compression of bytes
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "inputs/word_borders.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Classes of the characters in 64 bytes.
struct classes {
  std::uint64_t separators = 0;  // bit i is set where byte i is white space
  bool has_nul = false;
};

HWY_INLINE classes classify(const std::uint8_t* p) {
  classes result;
#if HWY_TARGET == HWY_SCALAR
  for (unsigned i = 0; i < 64; ++i) {
    result.separators |= std::uint64_t{is_space(static_cast<char>(p[i]))} << i;
    result.has_nul |= p[i] == 0;
  }
#else
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto blank = hn::Set(d, ' ');
  const auto tab = hn::Set(d, '\t');
  const auto span = hn::Set(d, '\r' - '\t');
  auto least = hn::Set(d, 0xFF);
  std::uint8_t part[64];
  for (std::size_t i = 0; i < 64; i += lanes) {
    const auto v = hn::LoadU(d, p + i);
    const auto control = hn::Sub(v, tab);
    // min(x, s) == x is an unsigned x <= s; x86 has no unsigned byte comparison below AVX-512.
    const auto space = hn::Or(hn::Eq(v, blank), hn::Eq(hn::Min(control, span), control));
    hn::StoreMaskBits(d, space, part + i / 8);
    least = hn::Min(least, v);
  }
  std::memcpy(&result.separators, part, sizeof(result.separators));
  result.has_nul = !hn::AllFalse(d, hn::Eq(least, hn::Zero(d)));
#endif
  return result;
}

#if HWY_TARGET == HWY_AVX3_DL

/// Appends the positions of the set bits of `bits`, plus `base`; may write 64 in all.
HWY_INLINE std::uint16_t* flatten(std::uint64_t bits, unsigned base, std::uint16_t* out) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const hn::CappedTag<std::uint16_t, 32> d16;
  const hn::Half<decltype(d)> half;
  const auto places = hn::Compress(
      hn::Iota(d, 0), hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits)));
  const auto add = hn::Set(d16, static_cast<std::uint16_t>(base));
  hn::StoreU(hn::Add(hn::PromoteTo(d16, hn::LowerHalf(half, places)), add), d16, out);
  const int count = std::popcount(bits);
  if (HWY_UNLIKELY(count > 32)) {
    hn::StoreU(hn::Add(hn::PromoteTo(d16, hn::UpperHalf(half, places)), add), d16, out + 32);
  }
  return out + count;
}

#else

/// Appends the positions of the set bits of `bits`, plus `base`; may write 24 more than it appends.
HWY_INLINE std::uint16_t* flatten(std::uint64_t bits, unsigned base, std::uint16_t* out) {
  const int count = std::popcount(bits);
  const auto put = [&](int i) {
    out[i] = static_cast<std::uint16_t>(base + static_cast<unsigned>(std::countr_zero(bits)));
    bits &= bits - 1;
  };
  for (int i = 0; i < 24; ++i) put(i);  // of nine words, the usual number in a line
  for (int i = 24; i < count; ++i) put(i);
  return out + count;
}

#endif

void find_borders(std::string_view text, bool& in_word, word_borders& borders) {
  const auto* p = reinterpret_cast<const std::uint8_t*>(text.data());
  std::uint16_t* out = borders.at.data();
  std::uint64_t carry = in_word ? 0 : 1;  // was the byte before this group a separator?
  bool has_nul = false;
  const auto group = [&](const std::uint8_t* bytes, std::size_t at) {
    const auto [space, nul] = classify(bytes);
    out = flatten(space ^ (space << 1 | carry), static_cast<unsigned>(at), out);
    carry = space >> 63;
    has_nul |= nul;
  };
  std::size_t at = 0;
  for (; at + 64 <= text.size(); at += 64) {
    prefetch_text(p + at, word_block);
    group(p + at, at);
  }
  if (at < text.size()) {  // never read past the end: it may be the end of a mapping
    std::uint8_t rest[64];
    std::memset(rest, ' ', sizeof(rest));
    std::memcpy(rest, p + at, text.size() - at);
    group(rest, at);
  }
  in_word = carry == 0;
  borders.count = static_cast<std::size_t>(out - borders.at.data());
  borders.has_nul = has_nul;
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce {

HWY_EXPORT(find_borders);

void find_word_borders(std::string_view text, bool& in_word, word_borders& borders) noexcept {
  HWY_DYNAMIC_DISPATCH(find_borders)(text, in_word, borders);
}

}  // namespace creek::mapreduce
#endif
