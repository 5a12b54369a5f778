// SPDX-License-Identifier: Apache-2.0
// Operations on small matrices, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/small_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h includes this file again per target; Highway itself comes after it.
#include <hwy/highway.h>

#include "small_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace creek::linalg::detail::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class R>
using tag = hn::CappedTag<R, 64 / sizeof(R)>;
template <class R>
constexpr index_t lanes_of = static_cast<index_t>(hn::MaxLanes(tag<R>()));
template <class R>
using vector = hn::Vec<tag<R>>;
template <class R>
using row_mask = hn::Mask<tag<R>>;

/// The lanes [from, end) of a vector.
template <class R>
struct some_rows {
  row_mask<R> mask;
  index_t from, end;
};

/// Returns the first `rows` lanes, or all if there are fewer.
template <class R>
HWY_INLINE HWY_ATTR some_rows<R> rows_of(index_t rows) {
  const index_t end = std::min(rows, lanes_of<R>);
  return {hn::FirstN(tag<R>(), static_cast<std::size_t>(end)), 0, end};
}
template <class R>
HWY_INLINE HWY_ATTR some_rows<R> rows_from(index_t from, const some_rows<R>& rows) {
  return {hn::AndNot(hn::FirstN(tag<R>(), static_cast<std::size_t>(from)), rows.mask), from,
          rows.end};
}

/// Loads these rows, and touches no memory behind them; the other lanes are any numbers before the
/// first row, and 0 behind the last.
template <class R>
HWY_INLINE HWY_ATTR vector<R> load(const some_rows<R>& rows, const R* from) {
  const tag<R> d;
#if HWY_MEM_OPS_MIGHT_FAULT
  if (rows.end == lanes_of<R>) return hn::LoadU(d, from);
  alignas(64) R part[lanes_of<R>] = {};
  std::copy_n(from, rows.end, part);
  return hn::Load(d, part);
#else
  return hn::MaskedLoad(rows.mask, d, from);
#endif
}
template <class R>
HWY_INLINE HWY_ATTR void store(vector<R> value, const some_rows<R>& rows, R* to) {
  const tag<R> d;
#if HWY_MEM_OPS_MIGHT_FAULT
  alignas(64) R part[lanes_of<R>];
  if (rows.from == 0 && rows.end == lanes_of<R>) return hn::StoreU(value, d, to);
  hn::Store(value, d, part);
  for (index_t i = rows.from; i < rows.end; ++i) to[i] = part[i];
#else
  hn::BlendedStore(value, rows.mask, d, to);
#endif
}

/// c -= left * right, in these rows.
template <class R>
HWY_INLINE HWY_ATTR void subtract(vector<R> left, const some_rows<R>& rows, R right, R* c) {
  store<R>(hn::NegMulAdd(left, hn::Set(tag<R>(), right), load<R>(rows, c)), rows, c);
}

/// Column j of C -= left * y[j * y_step] for all columns, in these rows.
template <class R>
HWY_INLINE HWY_ATTR void subtract_columns(vector<R> left, const some_rows<R>& rows, index_t columns,
                                          const R* y, index_t y_step, R* c, index_t step) {
  for (; columns > 0; --columns, y += y_step, c += step) subtract<R>(left, rows, *y, c);
}

/// A block of C: V vectors of rows, of which the last one has `last`, and N columns.
template <int V, int N, class R>
HWY_INLINE HWY_ATTR void multiply_block(const some_rows<R>& last, index_t k, R alpha,
                                        const R* HWY_RESTRICT a, index_t a_step,
                                        const R* HWY_RESTRICT b, index_t b_row, index_t b_col,
                                        R beta, R* HWY_RESTRICT c, index_t c_step) {
  const tag<R> d;
  constexpr index_t lanes = lanes_of<R>;
  vector<R> sum[N][V];
#pragma GCC unroll 8
  for (int j = 0; j < N; ++j) {
#pragma GCC unroll 3
    for (int v = 0; v < V; ++v) sum[j][v] = hn::Zero(d);
  }
  for (index_t p = 0; p < k; ++p) {
    vector<R> left[V];
#pragma GCC unroll 3
    for (int v = 0; v + 1 < V; ++v) left[v] = hn::LoadU(d, a + v * lanes);
    left[V - 1] = load<R>(last, a + (V - 1) * lanes);
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) {
      const auto right = hn::Set(d, b[j * b_col]);
#pragma GCC unroll 3
      for (int v = 0; v < V; ++v) sum[j][v] = hn::MulAdd(left[v], right, sum[j][v]);
    }
    a += a_step;
    b += b_row;
  }
  const auto factor = hn::Set(d, alpha), kept = hn::Set(d, beta);
#pragma GCC unroll 8
  for (int j = 0; j < N; ++j) {
#pragma GCC unroll 3
    for (int v = 0; v < V; ++v) {
      R* const to = c + j * c_step + v * lanes;
      auto value = hn::Mul(factor, sum[j][v]);
      if (v + 1 < V) {
        if (beta != 0) value = hn::MulAdd(kept, hn::LoadU(d, to), value);
        hn::StoreU(value, d, to);
      } else {
        if (beta != 0) value = hn::MulAdd(kept, load<R>(last, to), value);
        store<R>(value, last, to);
      }
    }
  }
}

template <int V, class R>
HWY_ATTR void multiply_rows(index_t rows, index_t n, index_t k, R alpha, const R* a, index_t a_step,
                            const R* b, index_t b_row, index_t b_col, R beta, R* c,
                            index_t c_step) {
  const auto last = rows_of<R>(rows - (V - 1) * lanes_of<R>);
  const auto block = [&]<int N>(std::integral_constant<int, N>, index_t j) HWY_ATTR {
    multiply_block<V, N, R>(last, k, alpha, a, a_step, b + j * b_col, b_row, b_col, beta,
                            c + j * c_step, c_step);
  };
  constexpr int width = HWY_TARGET <= HWY_AVX3 ? 8 : 4;  // as registers allow
  index_t j = 0;
  for (; j + width <= n; j += width) block(std::integral_constant<int, width>(), j);
  if (width > 4 && j + 4 <= n) {
    block(std::integral_constant<int, 4>(), j);
    j += 4;
  }
  if (j + 2 <= n) {
    block(std::integral_constant<int, 2>(), j);
    j += 2;
  }
  if (j < n) block(std::integral_constant<int, 1>(), j);
}

template <class R>
HWY_ATTR void multiply(index_t m, index_t n, index_t k, R alpha, const R* a, index_t a_step,
                       const R* b, index_t b_row, index_t b_col, R beta, R* c, index_t c_step) {
  constexpr index_t lanes = lanes_of<R>;
  while (m > 0) {
    const index_t vectors = (m + lanes - 1) / lanes, blocks = (vectors + 2) / 3;
    const index_t rows = std::min(m, (vectors + blocks - 1) / blocks * lanes);
    const auto by_rows = rows > 2 * lanes ? multiply_rows<3, R>
                         : rows > lanes   ? multiply_rows<2, R>
                                          : multiply_rows<1, R>;
    by_rows(rows, n, k, alpha, a, a_step, b, b_row, b_col, beta, c, c_step);
    m -= rows;
    a += rows;
    c += rows;
  }
}

/// Returns the index of the first element of largest magnitude, n > 0; NaN exceeds all.
template <class R>
HWY_INLINE HWY_ATTR index_t largest(index_t n, const R* x) {
  constexpr index_t few = 6, lanes = lanes_of<R>;
  const tag<R> d;
  bool is_odd = false;
  index_t at = 0;
  if (n <= few) {
    R best = std::abs(x[0]);
    is_odd = std::isnan(best);
    for (index_t i = 1; i < n; ++i) {
      const R here = std::abs(x[i]);
      is_odd |= std::isnan(here);
      at = here > best ? i : at;
      best = here > best ? here : best;
    }
  } else {
    auto best = hn::Zero(d);
    for (index_t i = 0; i < n; i += lanes) {
      const auto here = hn::Abs(load<R>(rows_of<R>(n - i), x + i));
      is_odd |= !hn::AllTrue(d, hn::Eq(here, here));
      best = hn::Max(best, here);
    }
    const auto wanted = hn::MaxOfLanes(d, best);
    for (index_t i = 0; i < n && !is_odd; i += lanes) {
      const auto some = rows_of<R>(n - i);
      const auto here = hn::Abs(load<R>(some, x + i));
      const index_t found = hn::FindFirstTrue(d, hn::And(some.mask, hn::Eq(here, wanted)));
      if (found >= 0) return i + found;
    }
  }
  return is_odd ? std::find_if(x, x + n, [](R v) { return std::isnan(v); }) - x : at;
}

/// x = x / pivot, of which y may be a part; column j of C -= x * y[j * y_step] for all columns;
/// with Lower, from row j on.
template <bool Lower, class R>
HWY_INLINE HWY_ATTR void eliminate(index_t rows, index_t columns, R pivot, R* x, const R* y,
                                   index_t y_step, R* c, index_t step) {
  const tag<R> d;
  constexpr index_t lanes = lanes_of<R>;
  R factor = R{1} / pivot;
  if (!(std::abs(pivot) >= std::numeric_limits<R>::min())) {  // it may be infinite
    for (R* each = x; each != x + rows; ++each) *each /= pivot;
    factor = 1;
  }
  for (index_t i = 0; i < rows; i += lanes) {
    const auto some = rows_of<R>(rows - i);
    const auto left = hn::Mul(load<R>(some, x + i), hn::Set(d, factor));
    store<R>(left, some, x + i);
    index_t whole = columns;
    if (Lower) {
      // Above the diagonal nothing may change.
      for (index_t j = i; j < std::min(columns, i + lanes); ++j) {
        subtract<R>(left, rows_from<R>(j - i, some), y[j], c + j * step + i);
      }
      whole = std::min(columns, i);
    }
    subtract_columns<R>(left, some, whole, y, y_step, c + i, step);
  }
}

/// Column j of C -= x * y[j * y_step], for all columns.
template <class R>
HWY_INLINE HWY_ATTR void subtract_outer(index_t rows, index_t columns, const R* HWY_RESTRICT x,
                                        const R* y, index_t y_step, R* c, index_t step) {
  constexpr index_t lanes = lanes_of<R>;
  for (index_t i = 0; i < rows; i += lanes) {
    const auto some = rows_of<R>(rows - i);
    const auto left = load<R>(some, x + i);
    subtract_columns<R>(left, some, columns, y, y_step, c + i, step);
  }
}

// Right-looking: no step waits for an element that the step before has only just stored.
template <class R>
HWY_ATTR index_t lu(index_t m, index_t n, R* a, index_t step, index_t* pivots) {
  index_t info = 0;
  for (index_t j = 0, steps = std::min(m, n); j < steps; ++j) {
    R* const column = a + j * step;
    const index_t at = j + largest(m - j, column + j);
    pivots[j] = at;
    if (column[at] == 0) {
      if (info == 0) info = j + 1;
      continue;
    }
    if (at != j) {
      for (index_t c = 0; c < n; ++c) std::swap(a[c * step + j], a[c * step + at]);
    }
    eliminate<false>(m - j - 1, n - j - 1, column[j], column + j + 1, column + j + step, step,
                     column + j + 1 + step, step);
  }
  return info;
}

template <class R>
HWY_ATTR index_t cholesky(index_t n, R* a, index_t step) {
  for (index_t j = 0; j < n; ++j) {
    R* const column = a + j * step + j;
    if (!(column[0] > 0)) return j + 1;  // NaN as well
    column[0] = std::sqrt(column[0]);
    eliminate<true>(n - j - 1, n - j - 1, column[0], column + 1, column + 1, 1, column + 1 + step,
                    step);
  }
  return 0;
}

template <class R>
HWY_ATTR void solve_unit_lower(index_t n, const R* a, index_t step, index_t columns, R* b,
                               index_t b_step) {
  for (index_t k = 0; k + 1 < n; ++k) {
    subtract_outer(n - k - 1, columns, a + k * step + k + 1, b + k, b_step, b + k + 1, b_step);
  }
}

template <class R>
HWY_ATTR void solve_upper(index_t n, const R* a, index_t step, index_t columns, R* b,
                          index_t b_step) {
  for (index_t k = n - 1; k >= 0; --k) {
    const R pivot = a[k * step + k];
    for (index_t j = 0; j < columns; ++j) b[j * b_step + k] /= pivot;
    subtract_outer(k, columns, a + k * step, b + k, b_step, b, b_step);
  }
}

template <class R>
const small_kernels<R>* kernels() {
  static constexpr small_kernels<R> all{multiply<R>, lu<R>, cholesky<R>, solve_unit_lower<R>,
                                        solve_upper<R>};
  return &all;
}
}  // namespace

CREEK_OFFER_KERNELS(small_kernels, kernels)

}  // namespace creek::linalg::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::linalg::detail {

CREEK_CHOOSE_KERNELS(small_kernels)

}  // namespace creek::linalg::detail
#endif
