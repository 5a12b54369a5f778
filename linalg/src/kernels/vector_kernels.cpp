// SPDX-License-Identifier: Apache-2.0
// Innermost loops over vectors, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/vector_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h includes this file again per target; Highway itself comes after it.
#include <hwy/highway.h>

#include "vector_kernels.hpp"

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace creek::linalg::detail::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class R>
using tag = hn::CappedTag<R, 64 / sizeof(R)>;

// Four columns at a time, so that y is loaded and stored once per four columns.
template <class R>
HWY_ATTR void subtract(index_t n, index_t k, const R* HWY_RESTRICT a, index_t step,
                       const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  for (; k >= 4; k -= 4, a += 4 * step, x += 4) {
    const auto x0 = hn::Set(d, x[0]), x1 = hn::Set(d, x[1]);
    const auto x2 = hn::Set(d, x[2]), x3 = hn::Set(d, x[3]);
    index_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      auto sum = hn::NegMulAdd(hn::LoadU(d, a + i), x0, hn::LoadU(d, y + i));
      auto more = hn::Mul(hn::LoadU(d, a + 2 * step + i), x2);
      sum = hn::NegMulAdd(hn::LoadU(d, a + step + i), x1, sum);
      more = hn::MulAdd(hn::LoadU(d, a + 3 * step + i), x3, more);
      hn::StoreU(hn::Sub(sum, more), d, y + i);
    }
    for (; i < n; ++i) {
      y[i] -=
          (a[i] * x[0] + a[step + i] * x[1]) + (a[2 * step + i] * x[2] + a[3 * step + i] * x[3]);
    }
  }
  for (; k > 0; --k, a += step, ++x) {
    const auto x0 = hn::Set(d, x[0]);
    index_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      hn::StoreU(hn::NegMulAdd(hn::LoadU(d, a + i), x0, hn::LoadU(d, y + i)), d, y + i);
    }
    for (; i < n; ++i) y[i] -= a[i] * x[0];
  }
}

template <class R>
HWY_ATTR void subtract_complex(index_t n, index_t k, const R* HWY_RESTRICT a, index_t step,
                               const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  for (; k > 0; --k, a += 2 * step, x += 2) {
    const R re = x[0], im = x[1];
    index_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const tag<R> d;
    constexpr index_t lanes = hn::MaxLanes(tag<R>());
    const auto straight = hn::Set(d, re);
    const auto crossed = hn::OddEven(hn::Set(d, im), hn::Set(d, -im));
    for (; i + lanes <= 2 * n; i += lanes) {
      const auto v = hn::LoadU(d, a + i);
      const auto sum = hn::NegMulAdd(v, straight, hn::LoadU(d, y + i));
      hn::StoreU(hn::NegMulAdd(hn::Reverse2(d, v), crossed, sum), d, y + i);
    }
#endif
    for (; i < 2 * n; i += 2) {
      y[i] -= a[i] * re - a[i + 1] * im;
      y[i + 1] -= a[i] * im + a[i + 1] * re;
    }
  }
}

// Several columns at once share the loads of x and have independent additions; a single column uses
// two sums instead.
template <int Columns, class R>
HWY_INLINE HWY_ATTR void project_some(index_t n, const R* HWY_RESTRICT a, index_t step,
                                      const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  hn::Vec<tag<R>> sum[Columns], more[Columns];
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) sum[c] = more[c] = hn::Zero(d);
  index_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const auto x0 = hn::LoadU(d, x + i);
    const auto x1 = hn::LoadU(d, x + i + lanes);
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      sum[c] = hn::MulAdd(hn::LoadU(d, a + c * step + i), x0, sum[c]);
      more[c] = hn::MulAdd(hn::LoadU(d, a + c * step + i + lanes), x1, more[c]);
    }
  }
  if (i + lanes <= n) {
    const auto x0 = hn::LoadU(d, x + i);
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      sum[c] = hn::MulAdd(hn::LoadU(d, a + c * step + i), x0, sum[c]);
    }
    i += lanes;
  }
#if !HWY_MEM_OPS_MIGHT_FAULT
  if (i < n) {
    const auto rest = hn::FirstN(d, static_cast<std::size_t>(n - i));
    const auto x0 = hn::MaskedLoad(rest, d, x + i);
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      more[c] = hn::MulAdd(hn::MaskedLoad(rest, d, a + c * step + i), x0, more[c]);
    }
    i = n;
  }
#endif
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
    R total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum[c], more[c])));
    for (index_t r = i; r < n; ++r) total += a[c * step + r] * x[r];
    y[c] = total;
  }
}

template <class R>
HWY_ATTR void project(index_t n, index_t k, const R* HWY_RESTRICT a, index_t step,
                      const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  index_t p = 0;
  for (; p + 4 <= k; p += 4) project_some<4>(n, a + p * step, step, x, y + p);
  for (; p < k; ++p) project_some<1>(n, a + p * step, step, x, y + p);
}

template <class R>
HWY_ATTR void project_complex(index_t n, index_t k, const R* HWY_RESTRICT a, index_t step,
                              const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  for (index_t p = 0; p < k; ++p, a += 2 * step) {
    R re = 0, im = 0;
    index_t i = 0;
#if HWY_TARGET != HWY_SCALAR
    const tag<R> d;
    constexpr index_t lanes = hn::MaxLanes(tag<R>());
    auto straight = hn::Zero(d);
    auto crossed = hn::Zero(d);
    for (; i + lanes <= 2 * n; i += lanes) {
      const auto v = hn::LoadU(d, a + i);
      const auto w = hn::LoadU(d, x + i);
      straight = hn::MulAdd(v, w, straight);
      crossed = hn::MulAdd(v, hn::Reverse2(d, w), crossed);
    }
    re = hn::GetLane(hn::SumOfLanes(d, straight));
    im = hn::GetLane(hn::SumOfLanes(d, hn::OddEven(hn::Neg(crossed), crossed)));
#endif
    for (; i < 2 * n; i += 2) {
      re += a[i] * x[i] + a[i + 1] * x[i + 1];
      im += a[i] * x[i + 1] - a[i + 1] * x[i];
    }
    y[2 * p] = re;
    y[2 * p + 1] = im;
  }
}

// Columns of a and of x whose products are summed at once, as registers allow.
constexpr int projected = 4;
constexpr int projections = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

template <int K, int Columns, class R>
HWY_INLINE HWY_ATTR void project_tile(index_t n, const R* HWY_RESTRICT a, index_t a_step,
                                      const R* HWY_RESTRICT x, index_t x_step, R* HWY_RESTRICT y,
                                      index_t k_step, index_t column_step) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  hn::Vec<tag<R>> sum[K][Columns];
#pragma GCC unroll 4
  for (int p = 0; p < K; ++p) {
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) sum[p][c] = hn::Zero(d);
  }
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::Vec<tag<R>> right[Columns];
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) right[c] = hn::LoadU(d, x + c * x_step + i);
#pragma GCC unroll 4
    for (int p = 0; p < K; ++p) {
      const auto left = hn::LoadU(d, a + p * a_step + i);
#pragma GCC unroll 4
      for (int c = 0; c < Columns; ++c) sum[p][c] = hn::MulAdd(left, right[c], sum[p][c]);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < K; ++p) {
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      R total = hn::GetLane(hn::SumOfLanes(d, sum[p][c]));
      for (index_t r = i; r < n; ++r) total += a[p * a_step + r] * x[c * x_step + r];
      y[p * k_step + c * column_step] = total;
    }
  }
}

template <class R>
HWY_ATTR void project_columns(index_t n, index_t k, const R* HWY_RESTRICT a, index_t a_step,
                              index_t cols, const R* HWY_RESTRICT x, index_t x_step,
                              R* HWY_RESTRICT y, index_t y_step) {
  index_t c = 0;
  for (; c + projections <= cols; c += projections) {
    const R* const right = x + c * x_step;
    R* const to = y + c * y_step;
    index_t p = 0;
    for (; p + projected <= k; p += projected) {
      project_tile<projected, projections>(n, a + p * a_step, a_step, right, x_step, to + p, 1,
                                           y_step);
    }
    // With the operands exchanged, as a product of reals has no order.
    for (; p < k; ++p) {
      project_tile<projections, 1>(n, right, x_step, a + p * a_step, 0, to + p, y_step, 0);
    }
  }
  for (; c < cols; ++c) project(n, k, a, a_step, x + c * x_step, y + c * y_step);
}

template <int Right, class R>
HWY_ATTR void reflect_some(index_t n, R factor, R* HWY_RESTRICT v, index_t step,
                           const R* HWY_RESTRICT weights, R* HWY_RESTRICT dots) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  hn::Vec<tag<R>> weight[Right], sum[Right];
#pragma GCC unroll 8
  for (int c = 0; c < Right; ++c) {
    weight[c] = hn::Set(d, weights[c]);
    sum[c] = hn::Zero(d);
  }
  const auto scale = hn::Set(d, factor);
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto x = hn::Mul(hn::LoadU(d, v + i), scale);
    hn::StoreU(x, d, v + i);
    const auto first = hn::NegMulAdd(x, weight[0], hn::LoadU(d, v + step + i));
    hn::StoreU(first, d, v + step + i);
    sum[0] = hn::MulAdd(first, first, sum[0]);
#pragma GCC unroll 8
    for (int c = 1; c < Right; ++c) {
      R* const at = v + (c + 1) * step + i;
      const auto y = hn::NegMulAdd(x, weight[c], hn::LoadU(d, at));
      hn::StoreU(y, d, at);
      sum[c] = hn::MulAdd(first, y, sum[c]);
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < Right; ++c) dots[c] = hn::GetLane(hn::SumOfLanes(d, sum[c]));
  for (; i < n; ++i) {
    v[i] *= factor;
    for (int c = 0; c < Right; ++c) {
      R& y = v[(c + 1) * step + i];
      y -= v[i] * weights[c];
      dots[c] += v[step + i] * y;
    }
  }
}

template <class R>
HWY_ATTR void reflect(index_t n, index_t right, R factor, R* HWY_RESTRICT v, index_t step,
                      const R* HWY_RESTRICT weights, R* HWY_RESTRICT dots) {
  switch (right) {
    case 0:
      for (index_t i = 0; i < n; ++i) v[i] *= factor;
      return;
    case 1:
      return reflect_some<1>(n, factor, v, step, weights, dots);
    case 2:
      return reflect_some<2>(n, factor, v, step, weights, dots);
    case 3:
      return reflect_some<3>(n, factor, v, step, weights, dots);
    case 4:
      return reflect_some<4>(n, factor, v, step, weights, dots);
    case 5:
      return reflect_some<5>(n, factor, v, step, weights, dots);
    case 6:
      return reflect_some<6>(n, factor, v, step, weights, dots);
    default:
      return reflect_some<7>(n, factor, v, step, weights, dots);
  }
}

template <class R>
index_t largest_complex(index_t n, const R* x) {
  index_t at = 0;
  R found = -1;
  for (index_t i = 0; i < n; ++i) {
    const R here = std::abs(x[2 * i]) + std::abs(x[2 * i + 1]);
    if (std::isnan(here)) return i;
    if (here > found) {
      found = here;
      at = i;
    }
  }
  return at;
}

// Returns the index of the first element of magnitude `found`, which some element has; of the first
// NaN if there is one.
template <class R>
HWY_ATTR index_t first_of_magnitude(const R* HWY_RESTRICT x, index_t n, R found, bool has_nan) {
  if (has_nan) return std::find_if(x, x + n, [](R v) { return std::isnan(v); }) - x;
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  const auto wanted = hn::Set(d, found);
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const index_t at = hn::FindFirstTrue(d, hn::Eq(hn::Abs(hn::LoadU(d, x + i)), wanted));
    if (at >= 0) return i + at;
  }
  while (std::abs(x[i]) != found) ++i;
  return i;
}

// Two passes, both limited by loads: find the largest magnitude, then its index.
template <class R>
HWY_ATTR index_t largest(index_t n, const R* HWY_RESTRICT x) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  auto best = hn::Zero(d);
  auto odd = hn::Not(hn::Eq(best, best));
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    odd = hn::Or(odd, hn::Not(hn::Eq(v, v)));  // Ne is false for NaN on some targets
    best = hn::Max(best, hn::Abs(v));
  }
  R found = hn::GetLane(hn::MaxOfLanes(d, best));
  bool is_odd = !hn::AllFalse(d, odd);
  for (; i < n; ++i) {
    is_odd |= std::isnan(x[i]);
    found = std::max(found, std::abs(x[i]));
  }
  return first_of_magnitude(x, n, found, is_odd);
}

template <int K, class R>
HWY_ATTR index_t eliminate_some(index_t n, R factor, R* HWY_RESTRICT a, index_t step,
                                const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  R* const last = a + (K - 1) * step;
  hn::Vec<tag<R>> weight[K];
#pragma GCC unroll 8
  for (int p = 0; p < K; ++p) weight[p] = hn::Set(d, x[p]);
  const auto scale = hn::Set(d, factor);
  auto best = hn::Zero(d);
  auto odd = hn::Not(hn::Eq(best, best));
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::LoadU(d, y + i);
#pragma GCC unroll 8
    for (int p = 0; p < K - 1; ++p) v = hn::NegMulAdd(hn::LoadU(d, a + p * step + i), weight[p], v);
    const auto scaled = hn::Mul(hn::LoadU(d, last + i), scale);
    hn::StoreU(scaled, d, last + i);
    v = hn::NegMulAdd(scaled, weight[K - 1], v);
    hn::StoreU(v, d, y + i);
    odd = hn::Or(odd, hn::Not(hn::Eq(v, v)));
    best = hn::Max(best, hn::Abs(v));
  }
  R found = hn::GetLane(hn::MaxOfLanes(d, best));
  bool has_nan = !hn::AllFalse(d, odd);
  for (; i < n; ++i) {
    last[i] *= factor;
    // With the roundings of the vectors where these fuse, so that it does not matter where a piece
    // of rows ends.
    for (int p = 0; p < K; ++p) {
      const hn::CappedTag<R, 1> one;
      const auto sum =
          hn::NegMulAdd(hn::Set(one, a[p * step + i]), hn::Set(one, x[p]), hn::Set(one, y[i]));
      y[i] = hn::GetLane(sum);
    }
    has_nan |= std::isnan(y[i]);
    found = std::max(found, std::abs(y[i]));
  }
  return first_of_magnitude(y, n, found, has_nan);
}

template <class R>
HWY_ATTR index_t eliminate(index_t n, index_t k, R factor, R* HWY_RESTRICT a, index_t step,
                           const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  switch (k) {
    case 1:
      return eliminate_some<1>(n, factor, a, step, x, y);
    case 2:
      return eliminate_some<2>(n, factor, a, step, x, y);
    case 3:
      return eliminate_some<3>(n, factor, a, step, x, y);
    case 4:
      return eliminate_some<4>(n, factor, a, step, x, y);
    case 5:
      return eliminate_some<5>(n, factor, a, step, x, y);
    case 6:
      return eliminate_some<6>(n, factor, a, step, x, y);
    default:
      return eliminate_some<7>(n, factor, a, step, x, y);
  }
}

template <class R>
const vector_kernels<R>* kernels() {
  static constexpr vector_kernels<R> all{
      subtract<R>, subtract_complex<R>, project<R>, project_complex<R>, project_columns<R>,
      reflect<R>,  eliminate<R>,        largest<R>, largest_complex<R>};
  return &all;
}
}  // namespace

CREEK_OFFER_KERNELS(vector_kernels, kernels)

}  // namespace creek::linalg::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::linalg::detail {

CREEK_CHOOSE_KERNELS(vector_kernels)

}  // namespace creek::linalg::detail
#endif
