// SPDX-License-Identifier: Apache-2.0
#include "bits.hpp"

#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tpch/operators/bits.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::tpch::HWY_NAMESPACE {

std::size_t count_all(const std::uint64_t* bits, std::size_t words) {
  std::size_t ones = 0;
  for (std::size_t w = 0; w < words; ++w) ones += static_cast<std::size_t>(std::popcount(bits[w]));
  return ones;
}

void count_before(const std::uint32_t* bits, std::size_t words, std::uint32_t* before) {
  std::uint32_t ones = 0;
  for (std::size_t w = 0; w < words; ++w) {
    before[w] = ones;
    ones += static_cast<std::uint32_t>(std::popcount(bits[w]));
  }
}

/// Writes four indices whether a word has as many bits or not, and branches only if it has more,
/// since the CPU cannot predict their number. std::countr_zero(0) would be a branch, too; the top
/// bit keeps its argument from 0, and such an index is overwritten or not read.
std::size_t list_all(const std::uint64_t* bits, std::size_t words, std::uint16_t* to) {
  constexpr std::uint64_t top = std::uint64_t{1} << 63;
  std::uint16_t* const begin = to;
  for (std::size_t w = 0; w < words; ++w) {
    std::uint64_t rest = bits[w];
    const auto first = static_cast<std::uint32_t>(64 * w);
    const auto count = static_cast<std::size_t>(std::popcount(rest));
    std::uint16_t* next = to;
    do {
      for (int i = 0; i < 4; ++i, rest &= rest - 1) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(rest | top));
        *next++ = static_cast<std::uint16_t>(first + bit);
      }
    } while (HWY_UNLIKELY(rest != 0));
    to += count;
  }
  return static_cast<std::size_t>(to - begin);
}

}  // namespace creek::tpch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::tpch {

HWY_EXPORT(count_all);
HWY_EXPORT(count_before);
HWY_EXPORT(list_all);

std::size_t count_ones(std::span<const std::uint64_t> bits) noexcept {
  return HWY_DYNAMIC_DISPATCH(count_all)(bits.data(), bits.size());
}

void count_ones_before(std::span<const std::uint32_t> bits, std::uint32_t* before) noexcept {
  HWY_DYNAMIC_DISPATCH(count_before)(bits.data(), bits.size(), before);
}

std::size_t list_ones(std::span<const std::uint64_t> bits, std::uint16_t* to) noexcept {
  return HWY_DYNAMIC_DISPATCH(list_all)(bits.data(), bits.size(), to);
}

}  // namespace creek::tpch
#endif
