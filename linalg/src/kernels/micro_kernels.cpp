// SPDX-License-Identifier: Apache-2.0
// Innermost loops, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/micro_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h includes this file again per target; Highway itself comes after it.
#include <hwy/highway.h>

#include "micro_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace creek::linalg::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Three vectors high, so that many columns share their loads; as wide as registers allow. The
// number of rows is even, for complex numbers.
constexpr int vectors = HWY_TARGET == HWY_SCALAR ? 4 : 3;
constexpr int width = HWY_TARGET <= HWY_AVX3 ? 8 : 4;

template <class R>
using tag = hn::CappedTag<R, 64 / sizeof(R)>;
template <class R>
constexpr index_t micro_tile_rows = vectors* static_cast<index_t>(hn::MaxLanes(tag<R>()));

template <class R>
using micro_tile_sums = hn::Vec<tag<R>>[width][vectors];

template <class R>
HWY_INLINE HWY_ATTR void expect(const R* c, index_t leading) {
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
#pragma GCC unroll 8
  for (int j = 0; j < width; ++j) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(c + j * leading + v * lanes, 1);
    __builtin_prefetch(c + j * leading + micro_tile_rows<R> - 1, 1);
  }
}

// Element (p, j) of b is at b[p * row_step + j * col_step]; one of the steps is 1.
template <class R>
HWY_INLINE HWY_ATTR void accumulate(index_t k, const R* HWY_RESTRICT a, index_t a_step,
                                    const R* HWY_RESTRICT b, index_t row_step, index_t col_step,
                                    micro_tile_sums<R>& sum) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  // The strips come from the second-level cache, faster if they are asked for this many steps
  // ahead.
  constexpr index_t ahead = 8;
#pragma GCC unroll 8
  for (int j = 0; j < width; ++j) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) sum[j][v] = hn::Zero(d);
  }
  for (index_t p = 0; p < k; ++p) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(a + ahead * a_step + v * lanes);
    if (row_step != 1) __builtin_prefetch(b + ahead * row_step);
    hn::Vec<tag<R>> left[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) left[v] = hn::LoadU(d, a + v * lanes);
#pragma GCC unroll 8
    for (int j = 0; j < width; ++j) {
      const auto right = hn::Set(d, b[j * col_step]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[j][v] = hn::MulAdd(left[v], right, sum[j][v]);
    }
    a += a_step;
    b += row_step;
  }
}

template <class R>
HWY_INLINE HWY_ATTR void add(const micro_tile_sums<R>& sum, R* HWY_RESTRICT c, index_t leading) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
#pragma GCC unroll 8
  for (int j = 0; j < width; ++j) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      R* const to = c + j * leading + v * lanes;
      hn::StoreU(hn::Add(hn::LoadU(d, to), sum[j][v]), d, to);
    }
  }
}

template <class R>
HWY_ATTR void multiply(index_t k, const R* HWY_RESTRICT a, index_t a_step, const R* HWY_RESTRICT b,
                       R* HWY_RESTRICT c, index_t leading) {
  micro_tile_sums<R> sum;
  expect(c, leading);
  accumulate(k, a, a_step, b, width, 1, sum);
  add(sum, c, leading);
}

template <class R>
HWY_ATTR void multiply_columns(index_t k, const R* HWY_RESTRICT a, index_t a_step,
                               const R* HWY_RESTRICT b, index_t b_step, R* HWY_RESTRICT c,
                               index_t leading) {
  micro_tile_sums<R> sum;
  accumulate(k, a, a_step, b, 1, b_step, sum);
  add(sum, c, leading);
}

template <class R>
HWY_ATTR void multiply_edge(index_t k, const R* HWY_RESTRICT a, index_t a_step,
                            const R* HWY_RESTRICT b, index_t rows, index_t cols, R* HWY_RESTRICT c,
                            index_t leading) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  micro_tile_sums<R> sum;
  accumulate(k, a, a_step, b, width, 1, sum);
#pragma GCC unroll 8
  for (int j = 0; j < width; ++j) {
    if (j < cols) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        const index_t here = std::clamp<index_t>(rows - v * lanes, 0, lanes);
        R* const to = c + j * leading + v * lanes;
        if (here == lanes) {
          hn::StoreU(hn::Add(hn::LoadU(d, to), sum[j][v]), d, to);
        } else if (here > 0) {
          alignas(64) R part[lanes];
          hn::Store(sum[j][v], d, part);
          for (index_t i = 0; i < here; ++i) to[i] += part[i];
        }
      }
    }
  }
}

// Holds a row of a strip of the right operand, or the part of it that fits one vector.
template <class R>
using row_tag = hn::CappedTag<R, width>;
template <class R>
constexpr int row_vectors = width / static_cast<int>(hn::MaxLanes(row_tag<R>()));

template <class R>
HWY_ATTR void solve(index_t k, const R* HWY_RESTRICT l, R* HWY_RESTRICT b) {
  const row_tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(row_tag<R>());
  for (index_t top = 0; top < k; top += solve_rows) {
    for (int part = 0; part < row_vectors<R>; ++part) {
      R* const at = b + part * lanes;
      const R* from = l;
      hn::Vec<row_tag<R>> x[solve_rows];
#pragma GCC unroll 8
      for (int r = 0; r < solve_rows; ++r) x[r] = hn::LoadU(d, at + (top + r) * width);
      for (index_t p = 0; p < top; ++p) {
        const auto known = hn::LoadU(d, at + p * width);
#pragma GCC unroll 8
        for (int r = 0; r < solve_rows; ++r) x[r] = hn::NegMulAdd(hn::Set(d, from[r]), known, x[r]);
        from += solve_rows;
      }
#pragma GCC unroll 8
      for (int p = 0; p < solve_rows; ++p) {
        x[p] = hn::Mul(x[p], hn::Set(d, from[p]));
#pragma GCC unroll 8
        for (int r = p + 1; r < solve_rows; ++r) {
          x[r] = hn::NegMulAdd(hn::Set(d, from[r]), x[p], x[r]);
        }
        from += solve_rows;
      }
#pragma GCC unroll 8
      for (int r = 0; r < solve_rows; ++r) hn::StoreU(x[r], d, at + (top + r) * width);
    }
    l += (top + solve_rows) * solve_rows;
  }
}

template <class R>
HWY_ATTR void solve_complex(index_t k, const R* HWY_RESTRICT l, R* HWY_RESTRICT b) {
  const row_tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(row_tag<R>());
  constexpr int rows = solve_rows / 2;
  using vector = hn::Vec<row_tag<R>>;
  for (index_t top = 0; top < k; top += rows) {
    for (int part = 0; part < row_vectors<R>; ++part) {
      R* const at = b + part * lanes;
      const R* from = l;
      vector re[rows], im[rows];
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) {
        re[r] = hn::LoadU(d, at + 2 * (top + r) * width);
        im[r] = hn::LoadU(d, at + (2 * (top + r) + 1) * width);
      }
      const auto subtract = [&](int r, vector xre, vector xim) HWY_ATTR {
        const auto lre = hn::Set(d, from[2 * r]);
        const auto lim = hn::Set(d, from[2 * r + 1]);
        re[r] = hn::MulAdd(lim, xim, hn::NegMulAdd(lre, xre, re[r]));
        im[r] = hn::NegMulAdd(lim, xre, hn::NegMulAdd(lre, xim, im[r]));
      };
      for (index_t p = 0; p < top; ++p) {
        const auto xre = hn::LoadU(d, at + 2 * p * width);
        const auto xim = hn::LoadU(d, at + (2 * p + 1) * width);
#pragma GCC unroll 4
        for (int r = 0; r < rows; ++r) subtract(r, xre, xim);
        from += 2 * rows;
      }
#pragma GCC unroll 4
      for (int p = 0; p < rows; ++p) {
        const auto dre = hn::Set(d, from[2 * p]);
        const auto dim = hn::Set(d, from[2 * p + 1]);
        const auto xre = hn::NegMulAdd(im[p], dim, hn::Mul(re[p], dre));
        const auto xim = hn::MulAdd(im[p], dre, hn::Mul(re[p], dim));
        re[p] = xre;
        im[p] = xim;
#pragma GCC unroll 4
        for (int r = p + 1; r < rows; ++r) subtract(r, xre, xim);
        from += 2 * rows;
      }
#pragma GCC unroll 4
      for (int r = 0; r < rows; ++r) {
        hn::StoreU(re[r], d, at + 2 * (top + r) * width);
        hn::StoreU(im[r], d, at + (2 * (top + r) + 1) * width);
      }
    }
    l += (top + rows) * 2 * rows;
  }
}

template <class R>
HWY_ATTR void copy_strip(index_t rows, index_t cols, const R* HWY_RESTRICT from, index_t from_step,
                         R* HWY_RESTRICT to) {
  const tag<R> d;
  constexpr index_t lanes = hn::MaxLanes(tag<R>());
  if (rows == micro_tile_rows<R>) {
    for (index_t p = 0; p < cols; ++p) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        hn::StoreU(hn::LoadU(d, from + v * lanes), d, to + v * lanes);
      }
      from += from_step;
      to += micro_tile_rows<R>;
    }
    return;
  }
  for (index_t p = 0; p < cols; ++p) {
    std::copy_n(from, rows, to);
    std::fill(to + rows, to + micro_tile_rows<R>, R{});
    from += from_step;
    to += micro_tile_rows<R>;
  }
}

template <int Across, class R>
HWY_ATTR void interleave_some(index_t step, index_t k, const R* HWY_RESTRICT from,
                              index_t across_step, R* HWY_RESTRICT to) {
  for (index_t p = 0; p < k; ++p) {
#pragma GCC unroll 8
    for (int v = 0; v < Across; ++v) to[p * step + v] = from[p + v * across_step];
  }
}

template <class R>
HWY_ATTR void interleave(index_t step, index_t across, index_t k, const R* HWY_RESTRICT from,
                         index_t across_step, R* HWY_RESTRICT to) {
  if (across < step) {
    // Not row by row, which would call memset once per row.
    const tag<R> d;
    constexpr index_t lanes = hn::MaxLanes(tag<R>());
    index_t i = 0;
    for (; i + lanes <= k * step; i += lanes) hn::StoreU(hn::Zero(d), d, to + i);
    for (; i < k * step; ++i) to[i] = R{};
  }
  index_t v = 0;
  for (; v + 8 <= across; v += 8) {
    interleave_some<8>(step, k, from + v * across_step, across_step, to + v);
  }
  for (; v + 4 <= across; v += 4) {
    interleave_some<4>(step, k, from + v * across_step, across_step, to + v);
  }
  for (; v < across; ++v) {
    interleave_some<1>(step, k, from + v * across_step, across_step, to + v);
  }
}

template <class R>
const micro_kernels<R>* kernels() {
  static const micro_kernels<R> all{hwy::TargetName(HWY_TARGET),
                                    micro_tile_rows<R>,
                                    width,
                                    multiply<R>,
                                    multiply_columns<R>,
                                    multiply_edge<R>,
                                    solve<R>,
                                    solve_complex<R>,
                                    copy_strip<R>,
                                    interleave<R>};
  return &all;
}
CREEK_OFFER_KERNELS(micro_kernels, kernels)

}  // namespace creek::linalg::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::linalg::detail {

CREEK_CHOOSE_KERNELS(micro_kernels)

}  // namespace creek::linalg::detail
#endif
