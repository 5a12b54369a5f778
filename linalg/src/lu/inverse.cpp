// SPDX-License-Identifier: Apache-2.0
// Inverses by halves, so that nearly all of the work is triangular solves and products.
#include <creek/linalg/inverse.hpp>

#include <algorithm>
#include <utility>

#include "blas3/level3.hpp"
#include "checks.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "tiles/tile_factors.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Maximum order of a triangle that is inverted or squared element by element.
constexpr index_t small_triangle = 24;

/// Inverts column by column: A x = e, x only below (lower) or above (upper) the diagonal.
template <scalar T>
void invert_small(bool lower, diagonal ones, matrix_view<T> A) {
  const index_t n = A.rows();
  matrix<T> before(n, n);
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = lower ? j : 0; i < (lower ? n : j + 1); ++i) before(i, j) = A(i, j);
  }
  for (index_t j = 0; j < n; ++j) {
    const index_t length = lower ? n - j : j + 1;
    const auto row = [&](index_t s) { return lower ? j + s : j - s; };
    for (index_t s = 0; s < length; ++s) {
      const index_t i = row(s);
      T sum = s == 0 ? T{1} : T{};
      for (index_t q = 0; q < s; ++q)
        sum -= before(i, row(q)) * (q == 0 && ones == diagonal::unit ? T{1} : A(row(q), j));
      if (ones == diagonal::stored) {
        A(i, j) = sum / before(i, i);
      } else if (s > 0) {
        A(i, j) = sum;
      }
    }
  }
}

template <class Workers, scalar T>
void invert(triangle stored, diagonal ones, matrix_view<T> A) {
  const index_t n = A.rows();
  const bool lower = stored == triangle::lower;
  if (n <= small_triangle) return invert_small(lower, ones, A);
  const index_t half = round_up(n / 2, 8);
  const index_t rest = n - half;
  const matrix_view<T> first = A.block(0, 0, half, half);
  const matrix_view<T> second = A.block(half, half, rest, rest);
  const matrix_view<T> across = lower ? A.block(half, 0, rest, half) : A.block(0, half, half, rest);
  trsm_by<Workers, T>(side::left, stored, op::none, ones, T{-1}, lower ? second : first, across);
  trsm_by<Workers, T>(side::right, stored, op::none, ones, T{1}, lower ? first : second, across);
  invert<Workers>(stored, ones, first);
  invert<Workers>(stored, ones, second);
}

/// Replaces L by L^H L, or U by U U^H, in their triangle, by halves. LAPACK's lauum.
template <class Workers, scalar T>
void square(triangle stored, matrix_view<T> A) {
  const index_t n = A.rows();
  const bool lower = stored == triangle::lower;
  if (n <= small_triangle) {
    for (index_t j = 0; j < n; ++j) {
      // Elements with larger indices still hold the factor.
      for (index_t i = 0; i <= j; ++i) {
        T sum{};
        for (index_t p = j; p < n; ++p) {
          sum += lower ? conjugated(A(p, j)) * A(p, i) : A(i, p) * conjugated(A(j, p));
        }
        (lower ? A(j, i) : A(i, j)) = sum;
      }
    }
    return;
  }
  const index_t half = round_up(n / 2, 8);
  const index_t rest = n - half;
  const matrix_view<T> first = A.block(0, 0, half, half);
  const matrix_view<T> second = A.block(half, half, rest, rest);
  const matrix_view<T> across = lower ? A.block(half, 0, rest, half) : A.block(0, half, half, rest);
  square<Workers>(stored, first);
  herk_by<Workers, T>(stored, lower ? op::conjugate_transpose : op::none, real<T>{1}, across,
                      real<T>{1}, first);
  trmm_by<Workers, T>(lower ? side::left : side::right, stored, op::conjugate_transpose,
                      diagonal::stored, T{1}, second, across);
  square<Workers>(stored, second);
}

}  // namespace

template <scalar T>
index_t trtri_here(triangle stored, diagonal ones, matrix_view<T> A) {
  if (ones == diagonal::stored) {
    if (const index_t zero = zero_on_diagonal<T>(A)) return zero;
  }
  if (!A.empty()) invert<this_thread>(stored, ones, A);
  return 0;
}

template <scalar T>
void lauum_here(triangle stored, matrix_view<T> A) {
  if (!A.empty()) square<this_thread>(stored, A);
}

}  // namespace detail

using namespace detail;

template <scalar T>
index_t trtri(triangle stored, diagonal ones, matrix_view<T> A) {
  require(A.rows() == A.cols(), "trtri", "A must be square");
  if (ones == diagonal::stored) {
    if (const index_t zero = zero_on_diagonal<T>(A)) return zero;
  }
  if (!A.empty()) invert<all_workers>(stored, ones, A);
  return 0;
}

template <scalar T>
index_t getri(matrix_view<T> A, std::span<const index_t> pivots) {
  const index_t n = A.rows();
  require(A.cols() == n && static_cast<index_t>(pivots.size()) >= n, "getri",
          "A must be square, and pivots have a place for every row");
  if (const index_t info = trtri(triangle::upper, diagonal::stored, A)) return info;
  matrix<T> lower(n, n);
  for (index_t j = 0; j < n; ++j) {
    for (index_t i = j + 1; i < n; ++i) lower(i, j) = std::exchange(A(i, j), T{});
  }
  trsm<T>(side::right, triangle::lower, op::none, diagonal::unit, T{1}, lower.view(), A);
  for (index_t j = n - 1; j >= 0; --j) {
    const index_t other = pivots[static_cast<std::size_t>(j)];
    if (other != j) std::swap_ranges(A.column(j), A.column(j) + n, A.column(other));
  }
  return 0;
}

template <scalar T>
index_t potri(triangle stored, matrix_view<T> A) {
  require(A.rows() == A.cols(), "potri", "A must be square");
  if (const index_t info = trtri(stored, diagonal::stored, A)) return info;
  if (!A.empty()) square<all_workers>(stored, A);
  return 0;
}

#define CREEK_INSTANTIATE(letter, T)                                          \
  template index_t detail::trtri_here<T>(triangle, diagonal, matrix_view<T>); \
  template void detail::lauum_here<T>(triangle, matrix_view<T>);              \
  template index_t trtri<T>(triangle, diagonal, matrix_view<T>);              \
  template index_t getri<T>(matrix_view<T>, std::span<const index_t>);        \
  template index_t potri<T>(triangle, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
