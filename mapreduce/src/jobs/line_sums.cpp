// SPDX-License-Identifier: Apache-2.0
// The five sums of a line of best fit with vector code. Bytes: products of 16-bit halves are added
// in pairs to 32-bit lanes, which are added to 64-bit sums before they could overflow.
#include <creek/mapreduce/jobs/line_fit.hpp>

#include <algorithm>

#include <creek/core/charge.hpp>
#include <creek/mapreduce/inputs/prefetch_text.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jobs/line_sums.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE void add_byte_point(const std::uint8_t* at, std::uint64_t* sums) {
  const std::uint64_t x = at[0], y = at[1];
  sums[0] += x;
  sums[1] += y;
  sums[2] += x * x;
  sums[3] += y * y;
  sums[4] += x * y;
}

#if HWY_TARGET != HWY_SCALAR
using bytes_tag = hn::ScalableTag<std::uint8_t>;
using halves_tag = hn::Repartition<std::int16_t, bytes_tag>;
using words_tag = hn::Repartition<std::int32_t, bytes_tag>;
using longs_tag = hn::Repartition<std::uint64_t, bytes_tag>;

/// Returns the sum of the lanes, which must not be negative.
HWY_INLINE std::uint64_t sum_of(hn::Vec<words_tag> v) {
  const words_tag d;
  HWY_ALIGN std::int32_t lanes[hn::MaxLanes(d)];
  hn::Store(v, d, lanes);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) sum += static_cast<std::uint32_t>(lanes[i]);
  return sum;
}

/// Maximum number of vectors of points before 32-bit lanes could overflow: a step adds at most 2 *
/// 255 * 255 to a lane of a sum of products.
constexpr std::size_t most_steps = 16384;
static_assert(most_steps * 2 * 255 * 255 < (std::uint64_t{1} << 31));

HWY_INLINE void add_byte_steps(const std::uint8_t* at, std::size_t steps, std::uint64_t* sums) {
  const bytes_tag d8;
  const halves_tag d16;
  const words_tag d32;
  const longs_tag d64;
  const auto low = hn::Set(d16, 0xFF);
  auto x_sum = hn::Zero(d64), both_sum = hn::Zero(d64);
  auto xx = hn::Zero(d32), yy = hn::Zero(d32), xy = hn::Zero(d32);
  auto xx_odd = hn::Zero(d32), yy_odd = hn::Zero(d32), xy_odd = hn::Zero(d32);
  for (std::size_t i = 0; i < steps; ++i, at += hn::Lanes(d8)) {
    prefetch_text(at, fetched_ahead);
    const auto both = hn::LoadU(d8, at);
    const auto halves = hn::BitCast(d16, both);
    const auto x = hn::And(halves, low);
    const auto y = hn::BitCast(
        d16, hn::ShiftRight<8>(hn::BitCast(hn::RebindToUnsigned<halves_tag>(), halves)));
    x_sum = hn::Add(x_sum, hn::SumsOf8(hn::BitCast(d8, x)));
    both_sum = hn::Add(both_sum, hn::SumsOf8(both));
    xx = hn::ReorderWidenMulAccumulate(d32, x, x, xx, xx_odd);
    yy = hn::ReorderWidenMulAccumulate(d32, y, y, yy, yy_odd);
    xy = hn::ReorderWidenMulAccumulate(d32, x, y, xy, xy_odd);
  }
  const std::uint64_t x_all = hn::GetLane(hn::SumOfLanes(d64, x_sum));
  sums[0] += x_all;
  sums[1] += hn::GetLane(hn::SumOfLanes(d64, both_sum)) - x_all;
  sums[2] += sum_of(xx) + sum_of(xx_odd);
  sums[3] += sum_of(yy) + sum_of(yy_odd);
  sums[4] += sum_of(xy) + sum_of(xy_odd);
}
#endif

void add_byte_sums(const std::uint8_t* at, std::size_t points, std::uint64_t* sums) {
#if HWY_TARGET != HWY_SCALAR
  const std::size_t step = hn::Lanes(bytes_tag()) / 2;
  while (points >= step) {
    const std::size_t steps = std::min(points / step, most_steps);
    add_byte_steps(at, steps, sums);
    at += 2 * steps * step;
    points -= steps * step;
  }
#endif
  for (; points != 0; --points, at += 2) add_byte_point(at, sums);
}

/// Adds points stored as x, y, x, y ...: the product of a vector with itself gives both squares,
/// the product with swapped neighbours gives x * y twice.
void add_real_sums(const double* at, std::size_t points, double* sums) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<double> d;
  const std::size_t step = hn::Lanes(d) / 2;
  if (points >= 2 * step) {
    auto plain = hn::Zero(d), plain2 = hn::Zero(d), square = hn::Zero(d), square2 = hn::Zero(d);
    auto cross = hn::Zero(d), cross2 = hn::Zero(d);
    for (; points >= 2 * step; points -= 2 * step, at += 4 * step) {
      prefetch_text(at, fetched_ahead);
      prefetch_text(at + 2 * step, fetched_ahead);
      const auto a = hn::LoadU(d, at), b = hn::LoadU(d, at + 2 * step);
      plain = hn::Add(plain, a);
      plain2 = hn::Add(plain2, b);
      square = hn::MulAdd(a, a, square);
      square2 = hn::MulAdd(b, b, square2);
      cross = hn::MulAdd(a, hn::Shuffle01(a), cross);
      cross2 = hn::MulAdd(b, hn::Shuffle01(b), cross2);
    }
    HWY_ALIGN double lanes[3][hn::MaxLanes(d)];
    hn::Store(hn::Add(plain, plain2), d, lanes[0]);
    hn::Store(hn::Add(square, square2), d, lanes[1]);
    hn::Store(hn::Add(cross, cross2), d, lanes[2]);
    for (std::size_t i = 0; i < 2 * step; i += 2) {
      sums[0] += lanes[0][i];
      sums[1] += lanes[0][i + 1];
      sums[2] += lanes[1][i];
      sums[3] += lanes[1][i + 1];
      sums[4] += lanes[2][i];
    }
  }
#endif
  for (; points != 0; --points, at += 2) {
    sums[0] += at[0];
    sums[1] += at[1];
    sums[2] += at[0] * at[0];
    sums[3] += at[1] * at[1];
    sums[4] += at[0] * at[1];
  }
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce {

HWY_EXPORT(add_byte_sums);
HWY_EXPORT(add_real_sums);

void add_line_sums(std::span<const byte_point> points, std::span<std::uint64_t, 5> sums) noexcept {
  charge(work::element_visited, static_cast<std::int64_t>(points.size()));
  charge(work::value_reduced, 5 * static_cast<std::int64_t>(points.size()));
  HWY_DYNAMIC_DISPATCH(add_byte_sums)
  (reinterpret_cast<const std::uint8_t*>(points.data()), points.size(), sums.data());
}

void add_line_sums(std::span<const real_point> points, std::span<double, 5> sums) noexcept {
  charge(work::element_visited, static_cast<std::int64_t>(points.size()));
  charge(work::value_reduced, 5 * static_cast<std::int64_t>(points.size()));
  HWY_DYNAMIC_DISPATCH(add_real_sums)
  (points.empty() ? nullptr : &points.data()->x, points.size(), sums.data());
}

}  // namespace creek::mapreduce
#endif
