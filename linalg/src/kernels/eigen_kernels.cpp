// SPDX-License-Identifier: Apache-2.0
// Innermost loops of eigenvalue problems, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/eigen_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h includes this file again per target; Highway itself comes after it.
#include <hwy/highway.h>

#include "eigen_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace creek::linalg::detail::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class R>
using tag = hn::CappedTag<R, 64 / sizeof(R)>;
template <class R>
using vector = hn::Vec<tag<R>>;
template <class R>
constexpr index_t lanes_of = static_cast<index_t>(hn::MaxLanes(tag<R>()));

/// One of y and several of the sums stay in registers while the columns are read once.
template <int Columns, class R>
HWY_INLINE HWY_ATTR void both_some(index_t n, const R* HWY_RESTRICT a, index_t step,
                                   const R* HWY_RESTRICT x, R* HWY_RESTRICT y,
                                   const R* HWY_RESTRICT u, R* HWY_RESTRICT v) {
  const tag<R> d;
  constexpr index_t lanes = lanes_of<R>;
  vector<R> factor[Columns], sum[Columns];
#pragma GCC unroll 8
  for (int c = 0; c < Columns; ++c) {
    factor[c] = hn::Set(d, u[c]);
    sum[c] = hn::Zero(d);
  }
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto right = hn::LoadU(d, x + i);
    auto left = hn::LoadU(d, y + i);
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      const auto value = hn::LoadU(d, a + c * step + i);
      left = hn::MulAdd(value, factor[c], left);
      sum[c] = hn::MulAdd(value, right, sum[c]);
    }
    hn::StoreU(left, d, y + i);
  }
#if !HWY_MEM_OPS_MIGHT_FAULT
  if (i < n) {
    const auto rest = hn::FirstN(d, static_cast<std::size_t>(n - i));
    const auto right = hn::MaskedLoad(rest, d, x + i);
    auto left = hn::MaskedLoad(rest, d, y + i);
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      const auto value = hn::MaskedLoad(rest, d, a + c * step + i);
      left = hn::MulAdd(value, factor[c], left);
      sum[c] = hn::MulAdd(value, right, sum[c]);
    }
    hn::BlendedStore(left, rest, d, y + i);
    i = n;
  }
#endif
#pragma GCC unroll 8
  for (int c = 0; c < Columns; ++c) v[c] = hn::GetLane(hn::SumOfLanes(d, sum[c]));
  for (; i < n; ++i) {
    R left = y[i];
    for (int c = 0; c < Columns; ++c) {
      left += a[c * step + i] * u[c];
      v[c] += a[c * step + i] * x[i];
    }
    y[i] = left;
  }
}

template <class R>
HWY_ATTR void multiply_both(index_t n, index_t k, const R* a, index_t step, const R* x, R* y,
                            const R* u, R* v) {
  constexpr int wide = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
  index_t p = 0;
  for (; p + wide <= k; p += wide) both_some<wide>(n, a + p * step, step, x, y, u + p, v + p);
  for (; p + 4 <= k; p += 4) both_some<4>(n, a + p * step, step, x, y, u + p, v + p);
  for (; p < k; ++p) both_some<1>(n, a + p * step, step, x, y, u + p, v + p);
}

template <int Columns, class R>
HWY_INLINE HWY_ATTR void both_some_complex(index_t n, const R* HWY_RESTRICT a, index_t step,
                                           const R* HWY_RESTRICT x, R* HWY_RESTRICT y,
                                           const R* HWY_RESTRICT u, R* HWY_RESTRICT v) {
  index_t i = 0;
  for (int c = 0; c < 2 * Columns; ++c) v[c] = 0;
#if HWY_TARGET != HWY_SCALAR
  const tag<R> d;
  constexpr index_t lanes = lanes_of<R>;
  vector<R> straight_factor[Columns], crossed_factor[Columns], straight[Columns], crossed[Columns];
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
    straight_factor[c] = hn::Set(d, u[2 * c]);
    crossed_factor[c] = hn::OddEven(hn::Set(d, u[2 * c + 1]), hn::Set(d, -u[2 * c + 1]));
    straight[c] = crossed[c] = hn::Zero(d);
  }
  for (; i + lanes <= 2 * n; i += lanes) {
    const auto right = hn::LoadU(d, x + i);
    const auto swapped = hn::Reverse2(d, right);
    auto left = hn::LoadU(d, y + i);
#pragma GCC unroll 4
    for (int c = 0; c < Columns; ++c) {
      const auto value = hn::LoadU(d, a + 2 * c * step + i);
      left = hn::MulAdd(value, straight_factor[c], left);
      left = hn::MulAdd(hn::Reverse2(d, value), crossed_factor[c], left);
      straight[c] = hn::MulAdd(value, right, straight[c]);
      crossed[c] = hn::MulAdd(value, swapped, crossed[c]);
    }
    hn::StoreU(left, d, y + i);
  }
#pragma GCC unroll 4
  for (int c = 0; c < Columns; ++c) {
    v[2 * c] = hn::GetLane(hn::SumOfLanes(d, straight[c]));
    v[2 * c + 1] = hn::GetLane(hn::SumOfLanes(d, hn::OddEven(hn::Neg(crossed[c]), crossed[c])));
  }
#endif
  for (; i < 2 * n; i += 2) {
    for (int c = 0; c < Columns; ++c) {
      const R re = a[2 * c * step + i], im = a[2 * c * step + i + 1];
      y[i] += re * u[2 * c] - im * u[2 * c + 1];
      y[i + 1] += re * u[2 * c + 1] + im * u[2 * c];
      v[2 * c] += re * x[i] + im * x[i + 1];
      v[2 * c + 1] += re * x[i + 1] - im * x[i];
    }
  }
}

template <class R>
HWY_ATTR void multiply_both_complex(index_t n, index_t k, const R* a, index_t step, const R* x,
                                    R* y, const R* u, R* v) {
  constexpr int wide = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
  index_t p = 0;
  for (; p + wide <= k; p += wide) {
    both_some_complex<wide>(n, a + 2 * p * step, step, x, y, u + 2 * p, v + 2 * p);
  }
  for (; p < k; ++p) {
    both_some_complex<1>(n, a + 2 * p * step, step, x, y, u + 2 * p, v + 2 * p);
  }
}

/// Rotates Vectors vectors of rows through all columns; the moving column stays in registers.
template <int Vectors, class R>
HWY_INLINE HWY_ATTR void rotate_some(index_t count, const R* HWY_RESTRICT c,
                                     const R* HWY_RESTRICT s, R* z, index_t step) {
  const tag<R> d;
  constexpr index_t lanes = lanes_of<R>;
  vector<R> moving[Vectors];
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) moving[v] = hn::LoadU(d, z + v * lanes);
  for (index_t p = 0; p < count; ++p, z += step) {
    const auto cosine = hn::Set(d, c[p]), sine = hn::Set(d, s[p]);
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) {
      const auto next = hn::LoadU(d, z + step + v * lanes);
      hn::StoreU(hn::MulAdd(sine, next, hn::Mul(cosine, moving[v])), d, z + v * lanes);
      moving[v] = hn::NegMulAdd(sine, moving[v], hn::Mul(cosine, next));
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) hn::StoreU(moving[v], d, z + v * lanes);
}

#if !HWY_MEM_OPS_MIGHT_FAULT
/// Does the same for fewer rows than a vector has.
template <class R>
HWY_INLINE HWY_ATTR void rotate_rest(index_t rows, index_t count, const R* HWY_RESTRICT c,
                                     const R* HWY_RESTRICT s, R* z, index_t step) {
  const tag<R> d;
  const auto used = hn::FirstN(d, static_cast<std::size_t>(rows));
  auto moving = hn::MaskedLoad(used, d, z);
  for (index_t p = 0; p < count; ++p, z += step) {
    const auto cosine = hn::Set(d, c[p]), sine = hn::Set(d, s[p]);
    const auto next = hn::MaskedLoad(used, d, z + step);
    hn::BlendedStore(hn::MulAdd(sine, next, hn::Mul(cosine, moving)), used, d, z);
    moving = hn::NegMulAdd(sine, moving, hn::Mul(cosine, next));
  }
  hn::BlendedStore(moving, used, d, z);
}
#endif

template <class R>
HWY_ATTR void rotate(index_t rows, index_t count, const R* c, const R* s, R* z, index_t step) {
  constexpr index_t lanes = lanes_of<R>;
  index_t i = 0;
  for (; i + 4 * lanes <= rows; i += 4 * lanes) rotate_some<4>(count, c, s, z + i, step);
  for (; i + lanes <= rows; i += lanes) rotate_some<1>(count, c, s, z + i, step);
#if !HWY_MEM_OPS_MIGHT_FAULT
  if (i < rows) return rotate_rest(rows - i, count, c, s, z + i, step);
#endif
  for (; i < rows; ++i) {
    R moving = z[i];
    R* at = z + i;
    for (index_t p = 0; p < count; ++p, at += step) {
      const R next = at[step];
      *at = c[p] * moving + s[p] * next;
      moving = c[p] * next - s[p] * moving;
    }
    *at = moving;
  }
}

template <class R>
HWY_ATTR secular_terms<R> secular_sums(index_t n, const R* HWY_RESTRICT d, const R* HWY_RESTRICT z,
                                       R origin, R shift, R weight, R weight_step) {
  const tag<R> t;
  constexpr index_t lanes = lanes_of<R>;
  const auto from = hn::Set(t, origin), by = hn::Set(t, shift);
  const auto advance = hn::Set(t, weight_step * static_cast<R>(lanes));
  auto weights = hn::MulAdd(hn::Iota(t, R{0}), hn::Set(t, weight_step), hn::Set(t, weight));
  auto sum = hn::Zero(t), derivative = hn::Zero(t), weighted = hn::Zero(t);
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto value = hn::LoadU(t, z + i);
    const auto ratio = hn::Div(value, hn::Sub(hn::Sub(hn::LoadU(t, d + i), from), by));
    const auto term = hn::Mul(value, ratio);
    sum = hn::Add(sum, term);
    derivative = hn::MulAdd(ratio, ratio, derivative);
    weighted = hn::MulAdd(weights, term, weighted);
    weights = hn::Add(weights, advance);
  }
  secular_terms<R> all{hn::GetLane(hn::SumOfLanes(t, sum)),
                       hn::GetLane(hn::SumOfLanes(t, derivative)),
                       hn::GetLane(hn::SumOfLanes(t, weighted))};
  for (; i < n; ++i) {
    const R ratio = z[i] / ((d[i] - origin) - shift);
    all.sum += z[i] * ratio;
    all.derivative += ratio * ratio;
    all.weighted += (weight + weight_step * static_cast<R>(i)) * (z[i] * ratio);
  }
  return all;
}

template <class R>
HWY_ATTR void differences(index_t n, const R* HWY_RESTRICT d, R origin, R shift,
                          R* HWY_RESTRICT to) {
  const tag<R> t;
  constexpr index_t lanes = lanes_of<R>;
  const auto from = hn::Set(t, origin), by = hn::Set(t, shift);
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(t, d + i), from), by), t, to + i);
  }
  for (; i < n; ++i) to[i] = (d[i] - origin) - shift;
}

template <class R>
HWY_ATTR void multiply_ratios(index_t n, const R* HWY_RESTRICT delta, const R* HWY_RESTRICT d,
                              R pole, R* HWY_RESTRICT w) {
  const tag<R> t;
  constexpr index_t lanes = lanes_of<R>;
  const auto from = hn::Set(t, pole);
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto ratio = hn::Div(hn::LoadU(t, delta + i), hn::Sub(hn::LoadU(t, d + i), from));
    hn::StoreU(hn::Mul(hn::LoadU(t, w + i), ratio), t, w + i);
  }
  for (; i < n; ++i) w[i] *= delta[i] / (d[i] - pole);
}

template <class R>
HWY_ATTR R quotients(index_t n, const R* HWY_RESTRICT w, const R* HWY_RESTRICT delta,
                     R* HWY_RESTRICT to) {
  const tag<R> t;
  constexpr index_t lanes = lanes_of<R>;
  auto squares = hn::Zero(t);
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto ratio = hn::Div(hn::LoadU(t, w + i), hn::LoadU(t, delta + i));
    squares = hn::MulAdd(ratio, ratio, squares);
    hn::StoreU(ratio, t, to + i);
  }
  R sum = hn::GetLane(hn::SumOfLanes(t, squares));
  for (; i < n; ++i) {
    to[i] = w[i] / delta[i];
    sum += to[i] * to[i];
  }
  return sum;
}

template <class R>
const eigen_kernels<R>* eigen_kernels_here() {
  static const eigen_kernels<R> all{multiply_both<R>, multiply_both_complex<R>, rotate<R>,
                                    secular_sums<R>,  differences<R>,           multiply_ratios<R>,
                                    quotients<R>};
  return &all;
}

}  // namespace

CREEK_OFFER_KERNELS(eigen_kernels, eigen_kernels_here)

}  // namespace creek::linalg::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::linalg::detail {

CREEK_CHOOSE_KERNELS(eigen_kernels)

}  // namespace creek::linalg::detail
#endif
