// SPDX-License-Identifier: Apache-2.0
#include "sum_products.hpp"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tpch/operators/sum_products.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::tpch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

product_sums add_products(const std::uint32_t* a, const std::uint8_t* b, std::uint32_t base,
                          std::uint32_t factor, const std::uint64_t* mask, std::size_t words) {
  product_sums sums;
#if HWY_TARGET == HWY_SCALAR
  for (std::size_t w = 0; w < words; ++w) {
    sums.words += mask[w] != 0;
    for (std::uint64_t rest = mask[w]; rest != 0; rest &= rest - 1, ++sums.rows) {
      const std::size_t row = 64 * w + static_cast<std::size_t>(std::countr_zero(rest));
      const std::uint64_t other = base + factor * std::uint32_t{b[row]};
      sums.products += a[row] * other;
      sums.others += other;
    }
  }
#else
  const hn::CappedTag<std::uint32_t, 64> d;
  const hn::Repartition<std::uint64_t, decltype(d)> wide;
  const hn::Rebind<std::uint8_t, decltype(d)> narrow;
  const std::size_t lanes = hn::Lanes(d);
  const auto plus = hn::Set(d, base), times = hn::Set(d, factor);
  auto even = hn::Zero(wide), odd = hn::Zero(wide);
  auto others = hn::Zero(d);  // a lane adds at most block_rows numbers of 16 bits
  for (std::size_t w = 0; w < words; ++w) {
    if (mask[w] == 0) continue;
    ++sums.words;
    sums.rows += static_cast<std::uint64_t>(std::popcount(mask[w]));
    for (std::size_t i = 0; i < 64; i += lanes) {
      const std::uint64_t bits = mask[w] >> i;
      std::uint8_t bytes[8];
      std::memcpy(bytes, &bits, sizeof bytes);
      const auto left = hn::LoadMaskBits(d, bytes);
      const auto code = hn::PromoteTo(d, hn::LoadU(narrow, b + 64 * w + i));
      const auto other = hn::IfThenElseZero(left, hn::Add(plus, hn::Mul(code, times)));
      const auto value = hn::LoadU(d, a + 64 * w + i);
      others = hn::Add(others, other);
      even = hn::Add(even, hn::MulEven(value, other));
      odd = hn::Add(odd, hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, value))),
                                     hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, other)))));
    }
  }
  sums.products = hn::GetLane(hn::SumOfLanes(wide, hn::Add(even, odd)));
  sums.others = hn::GetLane(hn::SumOfLanes(d, others));
#endif
  return sums;
}

}  // namespace creek::tpch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::tpch {

HWY_EXPORT(add_products);

product_sums sum_products(const std::uint32_t* a, const std::uint8_t* b, std::uint32_t base,
                          std::uint32_t factor, const std::uint64_t* mask,
                          std::size_t words) noexcept {
  return HWY_DYNAMIC_DISPATCH(add_products)(a, b, base, factor, mask, words);
}

}  // namespace creek::tpch
#endif
