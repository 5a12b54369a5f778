// SPDX-License-Identifier: Apache-2.0
// Loops of the singular value decomposition, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "svd/svd_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h includes this file again per target; Highway itself comes after it.
#include <hwy/highway.h>

#include "svd_kernels.hpp"

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace creek::linalg::detail::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class R>
using tag = hn::CappedTag<R, 64 / sizeof(R)>;
template <class R>
constexpr index_t lanes_of = static_cast<index_t>(hn::MaxLanes(tag<R>()));

/// Loads the first `rows` elements and touches no memory behind them; the other lanes are 0.
template <class R>
HWY_INLINE HWY_ATTR hn::Vec<tag<R>> load_some(index_t rows, const R* from) {
  const tag<R> d;
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) R part[lanes_of<R>] = {};
  for (index_t i = 0; i < rows; ++i) part[i] = from[i];
  return hn::Load(d, part);
#else
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(rows)), d, from);
#endif
}
template <class R>
HWY_INLINE HWY_ATTR void store_some(hn::Vec<tag<R>> value, index_t rows, R* to) {
  const tag<R> d;
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) R part[lanes_of<R>];
  hn::Store(value, d, part);
  for (index_t i = 0; i < rows; ++i) to[i] = part[i];
#else
  hn::BlendedStore(value, hn::FirstN(d, static_cast<std::size_t>(rows)), d, to);
#endif
}

template <int Columns, class R>
HWY_INLINE HWY_ATTR void project_some(index_t rows, const R* HWY_RESTRICT a, index_t step,
                                      const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  const tag<R> d;
  constexpr index_t lanes = lanes_of<R>;
  hn::Vec<tag<R>> sum[Columns];
#pragma GCC unroll 8
  for (int c = 0; c < Columns; ++c) sum[c] = hn::Zero(d);
  index_t i = 0;
  for (; i + lanes <= rows; i += lanes) {
    const auto right = hn::LoadU(d, x + i);
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      sum[c] = hn::MulAdd(hn::LoadU(d, a + c * step + i), right, sum[c]);
    }
  }
  if (i < rows) {
    const auto right = load_some(rows - i, x + i);
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      sum[c] = hn::MulAdd(load_some(rows - i, a + c * step + i), right, sum[c]);
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < Columns; ++c) y[c] = hn::GetLane(hn::SumOfLanes(d, sum[c]));
}

template <class R>
HWY_ATTR void project(index_t rows, index_t cols, const R* a, index_t step, const R* x, R* y) {
  for (; cols >= 8; cols -= 8, a += 8 * step, y += 8) project_some<8>(rows, a, step, x, y);
  for (; cols >= 2; cols -= 2, a += 2 * step, y += 2) project_some<2>(rows, a, step, x, y);
  if (cols > 0) project_some<1>(rows, a, step, x, y);
}

template <int Columns, class R>
HWY_INLINE HWY_ATTR void subtract_some(index_t rows, const R* HWY_RESTRICT a, index_t step,
                                       const R* HWY_RESTRICT x, R* HWY_RESTRICT y) {
  const tag<R> d;
  constexpr index_t lanes = lanes_of<R>;
  hn::Vec<tag<R>> weight[Columns];
#pragma GCC unroll 8
  for (int c = 0; c < Columns; ++c) weight[c] = hn::Set(d, x[c]);
  index_t i = 0;
  for (; i + lanes <= rows; i += lanes) {
    auto sum = hn::LoadU(d, y + i), other = hn::Zero(d);
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      const auto left = hn::LoadU(d, a + c * step + i);
      if (c % 2 == 0) {
        sum = hn::NegMulAdd(left, weight[c], sum);
      } else {
        other = hn::MulAdd(left, weight[c], other);
      }
    }
    hn::StoreU(Columns > 1 ? hn::Sub(sum, other) : sum, d, y + i);
  }
  if (i < rows) {
    auto sum = load_some(rows - i, y + i);
#pragma GCC unroll 8
    for (int c = 0; c < Columns; ++c) {
      sum = hn::NegMulAdd(load_some(rows - i, a + c * step + i), weight[c], sum);
    }
    store_some<R>(sum, rows - i, y + i);
  }
}

template <class R>
HWY_ATTR void subtract(index_t rows, index_t cols, const R* a, index_t step, const R* x, R* y) {
  for (; cols >= 8; cols -= 8, a += 8 * step, x += 8) subtract_some<8>(rows, a, step, x, y);
  for (; cols >= 2; cols -= 2, a += 2 * step, x += 2) subtract_some<2>(rows, a, step, x, y);
  if (cols > 0) subtract_some<1>(rows, a, step, x, y);
}

template <class R>
HWY_ATTR void subtract_outer(index_t rows, index_t cols, const R* HWY_RESTRICT x,
                             const R* HWY_RESTRICT y, R* HWY_RESTRICT a, index_t step) {
  const tag<R> d;
  constexpr index_t lanes = lanes_of<R>;
  for (; rows > 0; rows -= lanes, x += lanes, a += lanes) {
    R* column = a;
    if (rows >= lanes) {
      const auto left = hn::LoadU(d, x);
      for (index_t j = 0; j < cols; ++j, column += step) {
        hn::StoreU(hn::NegMulAdd(left, hn::Set(d, y[j]), hn::LoadU(d, column)), d, column);
      }
    } else {
      const auto left = load_some(rows, x);
      for (index_t j = 0; j < cols; ++j, column += step) {
        store_some<R>(hn::NegMulAdd(left, hn::Set(d, y[j]), load_some(rows, column)), rows, column);
      }
    }
  }
}

using doubles = tag<double>;
constexpr index_t doubles_at_once = lanes_of<double>;

/// Returns d^2 - s^2.
HWY_INLINE HWY_ATTR hn::Vec<doubles> distance(hn::Vec<doubles> d, double pole, double offset) {
  const doubles t;
  const auto minus = hn::Sub(hn::Sub(d, hn::Set(t, pole)), hn::Set(t, offset));
  return hn::Mul(minus, hn::Add(hn::Add(d, hn::Set(t, pole)), hn::Set(t, offset)));
}

HWY_ATTR void add_poles(index_t n, const double* HWY_RESTRICT d, const double* HWY_RESTRICT square,
                        double pole, double offset, double* value, double* slope) {
  const doubles t;
  auto values = hn::Zero(t), slopes = hn::Zero(t);
  index_t j = 0;
  for (; j + doubles_at_once <= n; j += doubles_at_once) {
    const auto inverse = hn::Div(hn::Set(t, 1.0), distance(hn::LoadU(t, d + j), pole, offset));
    const auto term = hn::Mul(hn::LoadU(t, square + j), inverse);
    values = hn::Add(values, term);
    slopes = hn::MulAdd(term, inverse, slopes);
  }
  *value += hn::GetLane(hn::SumOfLanes(t, values));
  *slope += hn::GetLane(hn::SumOfLanes(t, slopes));
  for (; j < n; ++j) {
    const double inverse = 1 / (((d[j] - pole) - offset) * ((d[j] + pole) + offset));
    const double term = square[j] * inverse;
    *value += term;
    *slope += term * inverse;
  }
}

template <bool Left>
HWY_ATTR double secular_vector(index_t n, const double* HWY_RESTRICT d,
                               const double* HWY_RESTRICT z, double pole, double offset,
                               double* HWY_RESTRICT v) {
  const doubles t;
  auto squares = hn::Zero(t);
  index_t j = 0;
  for (; j + doubles_at_once <= n; j += doubles_at_once) {
    const auto at = hn::LoadU(t, d + j);
    auto element = hn::Div(hn::LoadU(t, z + j), distance(at, pole, offset));
    if (Left) element = hn::Mul(element, at);
    squares = hn::MulAdd(element, element, squares);
    hn::StoreU(element, t, v + j);
  }
  double sum = hn::GetLane(hn::SumOfLanes(t, squares));
  for (; j < n; ++j) {
    v[j] = z[j] / (((d[j] - pole) - offset) * ((d[j] + pole) + offset)) * (Left ? d[j] : 1.0);
    sum += v[j] * v[j];
  }
  return sum;
}

const secular_kernels* secular() {
  static constexpr secular_kernels all{add_poles, secular_vector<false>, secular_vector<true>};
  return &all;
}

template <class R>
const svd_kernels<R>* kernels() {
  static constexpr svd_kernels<R> all{project<R>, subtract<R>, subtract_outer<R>};
  return &all;
}
}  // namespace

const secular_kernels* secular_f64() {
  return secular();
}
CREEK_OFFER_KERNELS(svd_kernels, kernels)

}  // namespace creek::linalg::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::linalg::detail {

HWY_EXPORT(secular_f64);
CREEK_CHOOSE_KERNELS(svd_kernels)

const secular_kernels& secular_kernels_here() noexcept {
  static const secular_kernels& chosen = *HWY_DYNAMIC_DISPATCH(secular_f64)();
  return chosen;
}

}  // namespace creek::linalg::detail
#endif
