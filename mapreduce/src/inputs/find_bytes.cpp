// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/inputs/find_bytes.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <creek/core/charge.hpp>
#include <creek/mapreduce/inputs/prefetch_text.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "inputs/find_bytes.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const char* find(const char* at, const char* end, std::string_view pattern) {
  const std::size_t length = pattern.size();
  if (static_cast<std::size_t>(end - at) < length) return end;
  const char* const places_end = end - length + 1;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<std::uint8_t, 64> d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto first = hn::Set(d, static_cast<std::uint8_t>(pattern.front()));
  const auto middle = hn::Set(d, static_cast<std::uint8_t>(pattern[length / 2]));
  const auto last = hn::Set(d, static_cast<std::uint8_t>(pattern.back()));
  for (; places_end - at >= lanes; at += lanes) {
    prefetch_text(at, fetched_ahead);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(at);
    const auto both =
        hn::And(hn::Eq(hn::LoadU(d, bytes), first), hn::Eq(hn::LoadU(d, bytes + length - 1), last));
    const auto all = hn::And(both, hn::Eq(hn::LoadU(d, bytes + length / 2), middle));
    if (HWY_LIKELY(hn::AllFalse(d, all))) continue;
    std::uint8_t mask[8] = {};
    hn::StoreMaskBits(d, all, mask);
    std::uint64_t bits = 0;
    std::memcpy(&bits, mask, sizeof(bits));
    for (; bits != 0; bits &= bits - 1) {
      const char* const place = at + std::countr_zero(bits);
      if (std::memcmp(place, pattern.data(), length) == 0) return place;
    }
  }
#endif
  for (; at < places_end; ++at) {
    if (*at == pattern.front() && std::memcmp(at, pattern.data(), length) == 0) return at;
  }
  return end;
}

std::uint64_t count(const char* at, const char* end, char byte) {
  std::uint64_t sum = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<std::uint8_t> d;
  const hn::Repartition<std::uint64_t, decltype(d)> d64;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  const auto wanted = hn::Set(d, static_cast<std::uint8_t>(byte));
  while (end - at >= lanes) {
    // A lane holds the number of at most 255 equal bytes.
    const char* const full = at + std::min<std::ptrdiff_t>((end - at) / lanes, 255) * lanes;
    auto equal = hn::Zero(d);
    for (; at != full; at += lanes) {
      const auto bytes = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(at));
      equal = hn::Sub(equal, hn::VecFromMask(d, hn::Eq(bytes, wanted)));
    }
    sum += hn::GetLane(hn::SumOfLanes(d64, hn::SumsOf8(equal)));
  }
#endif
  for (; at != end; ++at) sum += *at == byte ? 1 : 0;
  return sum;
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce {

HWY_EXPORT(find);
HWY_EXPORT(count);

const char* find_bytes(const char* begin, const char* end, std::string_view pattern) noexcept {
  const char* const found = HWY_DYNAMIC_DISPATCH(find)(begin, end, pattern);
  charge(work::byte_scanned, found - begin);
  return found;
}

std::uint64_t count_byte(std::string_view text, char byte) noexcept {
  return HWY_DYNAMIC_DISPATCH(count)(text.data(), text.data() + text.size(), byte);
}

}  // namespace creek::mapreduce
#endif
