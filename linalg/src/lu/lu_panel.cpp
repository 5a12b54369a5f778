// SPDX-License-Identifier: Apache-2.0
// LU of a panel, with and without pivoting: it is halved until it is narrow, so that most of its
// work is products as well. Rows below the pivots are processed by pieces, which stay in a cache
// and which the workers share. Source: [Toledo 1997].
#include "lu_panel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "blas3/level3.hpp"
#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"
#include "kernels/triangular.hpp"
#include "kernels/vector_kernels.hpp"
#include "tiles/tile_factors.hpp"

namespace creek::linalg::detail {
namespace {

/// Maximum number of columns that are eliminated one by one.
template <scalar T>
constexpr index_t narrow = is_complex<T> ? 16 : 8;

/// Rows of a few columns that fit the first-level cache, and of many columns the second-level one.
constexpr index_t narrow_piece = 2048;
constexpr index_t wide_piece = 480;

/// Rows of a panel from which on it is worth dividing.
constexpr index_t min_tall_panel = 4096;
/// Maximum number of columns of a panel that the workers share.
constexpr index_t max_shared_columns = 256;

/// Divides x by the pivot: multiplies by its reciprocal if that is finite.
template <scalar T>
void divide(index_t n, T* x, T pivot) {
  if (std::abs(pivot) >= std::numeric_limits<real<T>>::min()) {
    const T reciprocal = T{1} / pivot;
    for (index_t i = 0; i < n; ++i) x[i] *= reciprocal;
  } else {
    for (index_t i = 0; i < n; ++i) x[i] /= pivot;
  }
}

/// Left-looking, column j: A(j:m, j) -= L(j:m, 0:j) U(0:j, j), pivot, divide. Returns info.
template <scalar T>
index_t factor_narrow(matrix_view<T> A, index_t* pivots) {
  index_t info = 0;
  const index_t m = A.rows();
  const index_t n = A.cols();
  for (index_t j = 0; j < n; ++j) {
    T* const column = A.column(j);
    const index_t known = std::min(j, m);
    for (index_t p = 0; p < known; ++p) {
      subtract(known - p - 1, 1, &A(0, p) + p + 1, A.leading(), column + p, column + p + 1);
    }
    if (j >= m) {
      continue;
    }
    subtract(m - j, j, A.data() + j, A.leading(), column, column + j);
    const index_t at = j + largest(m - j, column + j);
    pivots[j] = at;
    if (column[at] == T{}) {
      if (info == 0) info = j + 1;
      continue;
    }
    if (at != j) {
      for (index_t c = 0; c < n; ++c) std::swap(A(j, c), A(at, c));
    }
    divide(m - j - 1, column + j + 1, column[j]);
  }
  return info;
}

/// factor_narrow for real numbers, m >= n: one pass over the rows divides a column by its pivot,
/// does the elimination in the next one and finds its pivot.
template <class Workers, class R>
class elimination_in_passes {
 public:
  elimination_in_passes(matrix_view<R> A, index_t* pivots)
      : A_(A),
        pivots_(pivots),
        found_(static_cast<std::size_t>((A.rows() + narrow_piece - 1) / narrow_piece)) {}

  /// Returns info.
  index_t run() {
    index_t info = 0;
    for (index_t j = 0; j < A_.cols(); ++j) {
      solve_above(j);
      for_pieces(j, [&](index_t piece, index_t first, index_t rows) {
        found_[static_cast<std::size_t>(piece)] = first + pass(j, first, rows);
      });
      const index_t at = best(A_.column(j));
      pivots_[j] = at;
      factor_ = 1;
      const R pivot = A_(at, j);
      if (pivot == 0) {
        if (info == 0) info = j + 1;
        continue;
      }
      if (at != j) {
        for (index_t c = 0; c < A_.cols(); ++c) std::swap(A_(j, c), A_(at, c));
      }
      if (std::abs(pivot) >= std::numeric_limits<R>::min()) {
        factor_ = 1 / pivot;
      } else {
        divide_below(j, pivot);
      }
    }
    scale_last();
    return info;
  }

 private:
  /// Calls body(piece, first, rows) for the pieces of the rows from `from` on.
  template <class Body>
  void for_pieces(index_t from, const Body& body) {
    Workers::for_each(static_cast<index_t>(found_.size()), [&](index_t piece) {
      const index_t first = std::max(from, piece * narrow_piece);
      body(piece, first, std::min((piece + 1) * narrow_piece, A_.rows()) - first);
    });
  }

  /// Forward substitution for the rows of column j above its pivot.
  void solve_above(index_t j) {
    R* const column = A_.column(j);
    for (index_t p = 1; p < j; ++p) {
      for (index_t q = 0; q < p; ++q) column[p] -= A_(p, q) * column[q];
    }
  }

  /// Returns where among these rows the largest element of column j is.
  index_t pass(index_t j, index_t first, index_t rows) {
    if (rows <= 0) return 0;
    R* const to = &A_(first, j);
    const auto& kernels = vector_kernels_of<R>();
    if (j == 0) return kernels.largest(rows, to);
    return kernels.eliminate(rows, j, factor_, &A_(first, 0), A_.leading(), A_.column(j), to);
  }

  /// Returns the first row whose element is a NaN, or else the first one of the largest magnitude.
  index_t best(const R* column) const {
    index_t row = found_.front();
    for (const index_t other : found_) {
      const R largest = std::abs(column[row]), here = std::abs(column[other]);
      if (std::isnan(largest)) break;
      if (here > largest || std::isnan(here)) row = other;
    }
    return row;
  }

  void divide_below(index_t j, R pivot) {
    for_pieces(j + 1, [&](index_t, index_t first, index_t rows) {
      R* const x = A_.column(j) + first;
      for (index_t i = 0; i < rows; ++i) x[i] /= pivot;
    });
  }
  void scale_last() {
    if (factor_ == 1) return;
    for_pieces(A_.cols(), [&](index_t, index_t first, index_t rows) {
      R* const x = A_.column(A_.cols() - 1) + first;
      for (index_t i = 0; i < rows; ++i) x[i] *= factor_;
    });
  }

  matrix_view<R> A_;
  index_t* pivots_;
  R factor_ = 1;                // by which the column before is still to be multiplied
  std::vector<index_t> found_;  // rows of the largest elements, per piece
};

/// C -= L U for a tall L and few columns; U is packed and negated, L is read in place.
template <scalar T>
void multiply_tall(matrix_view<T> L, const real<T>* packed, matrix_view<T> C) {
  const index_t step = blocking<T>::rows();
  const auto& kernels = micro_kernels_of<real<T>>();
  index_t done = 0;
  if constexpr (!is_complex<T>) {
    const index_t strip = packed_right_size<T>(L.cols(), kernels.cols);
    const index_t full_cols = C.cols() / kernels.cols * kernels.cols;
    if (full_cols == C.cols()) {
      for (; done + kernels.rows <= C.rows(); done += kernels.rows) {
        const real<T>* right = packed;
        for (index_t j = 0; j < full_cols; j += kernels.cols, right += strip) {
          kernels.multiply(L.cols(), &L(done, 0), L.leading(), right, &C(done, j), C.leading());
        }
      }
    }
  }
  if (done == C.rows()) return;
  const pack_array<real<T>> left(packed_left_size<T>(std::min(step, C.rows() - done), L.cols()));
  for (; done < C.rows(); done += step) {
    const index_t rows = std::min(step, C.rows() - done);
    const strided<T> l{&L(done, 0), 1, L.leading()};
    pack_left(l, rows, L.cols(), left.data());
    multiply_packed(rows, C.cols(), L.cols(), left.data(), packed, &C(done, 0), C.leading());
  }
}

/// The same with both operands packed, for pieces of rows whose columns are far apart in memory.
template <scalar T>
void multiply_piece(matrix_view<T> L, const real<T>* packed, matrix_view<T> C) {
  if (L.cols() <= narrow<T>) return multiply_tall(L, packed, C);
  const pack_array<real<T>> left(packed_left_size<T>(C.rows(), L.cols()));
  pack_left(strided<T>{L.data(), 1, L.leading()}, C.rows(), L.cols(), left.data());
  multiply_packed(C.rows(), C.cols(), L.cols(), left.data(), packed, C.data(), C.leading());
}

/// Updates the right half of a panel by its left half: U12 = L11^-1 A12, A22 -= L21 U12.
template <class Workers, scalar T>
void update_right(matrix_view<T> left, matrix_view<T> right) {
  const index_t n = left.cols();
  const index_t depth = solve_depth<T>(n);
  const pack_array<real<T>> triangle(packed_triangle_size<T>(n));
  const pack_array<real<T>> packed(packed_right_size<T>(depth, right.cols()));
  const strided<T> l{left.data(), 1, left.leading()};
  pack_triangle(l, diagonal::unit, n, triangle.data());
  const strided<T> top{right.data(), 1, right.leading()};
  pack_right(top, n, right.cols(), T{1}, packed.data());
  solve_packed<T>(triangle.data(), n, packed.data(), right.cols());
  unpack_right(packed.data(), n, right.cols(), right.data(), 1, right.leading());
  const index_t below = left.rows() - n;
  if (below == 0) return;
  const index_t reals_of_it = packed_right_size<T>(n, right.cols());
  for (index_t i = 0; i < reals_of_it; ++i) packed.data()[i] = -packed.data()[i];
  const matrix_view<T> L = left.block(n, 0, below, n);
  const matrix_view<T> C = right.block(n, 0, below, right.cols());
  if (below < min_tall_panel) return multiply_tall(L, packed.data(), C);
  Workers::for_each((below + wide_piece - 1) / wide_piece, [&](index_t piece) {
    const index_t first = piece * wide_piece, rows = std::min(wide_piece, below - first);
    multiply_piece(L.block(first, 0, rows, n), packed.data(), C.block(first, 0, rows, C.cols()));
  });
}

/// Exchanges row i with row pivots[i] for i in [0, count).
template <class Workers, scalar T>
void exchange_rows(matrix_view<T> A, const index_t* pivots, index_t count) {
  constexpr index_t step = 8;
  Workers::for_each((A.cols() + step - 1) / step, [&](index_t piece) {
    for (index_t j = piece * step; j < std::min(A.cols(), (piece + 1) * step); ++j) {
      T* const column = A.column(j);
      for (index_t i = 0; i < count; ++i) std::swap(column[i], column[pivots[i]]);
    }
  });
}

/// Column j as factor_narrow does it, without pivots. Stops at a zero.
template <scalar T>
index_t eliminate_narrow(matrix_view<T> A) {
  const index_t m = A.rows();
  for (index_t j = 0; j < A.cols(); ++j) {
    T* const column = A.column(j);
    for (index_t p = 0; p < std::min(j, m); ++p) {
      subtract(m - p - 1, 1, A.column(p) + p + 1, A.leading(), column + p, column + p + 1);
    }
    if (j >= m) continue;
    if (column[j] == T{}) return j + 1;
    for (index_t i = j + 1; i < m; ++i) column[i] /= column[j];
  }
  return 0;
}

template <class Workers, scalar T>
index_t factor_by_halves(matrix_view<T> A, index_t* pivots) {
  const index_t n = std::min(A.rows(), A.cols());
  if constexpr (!is_complex<T>) {
    if (n <= narrow<T> && n == A.cols()) return elimination_in_passes<Workers, T>(A, pivots).run();
  }
  if (n <= narrow<T>) return factor_narrow(A, pivots);
  // A multiple of the triangular kernel's rows, so that packed strips have no padding.
  const index_t half = round_up(n / 2, 8);
  const index_t rest = A.cols() - half;
  const matrix_view<T> left = A.columns(0, half);
  const matrix_view<T> right = A.columns(half, rest);
  index_t info = factor_by_halves<Workers>(left, pivots);
  exchange_rows<Workers>(right, pivots, half);
  update_right<Workers>(left, right);
  const index_t below = A.rows() - half;
  const index_t later = factor_by_halves<Workers>(A.block(half, half, below, rest), pivots + half);
  if (info == 0 && later != 0) info = later + half;
  exchange_rows<Workers>(A.block(half, 0, below, half), pivots + half, n - half);
  for (index_t i = half; i < n; ++i) pivots[i] += half;
  return info;
}

}  // namespace

template <scalar T>
bool is_tall_panel(index_t rows, index_t cols) noexcept {
  return cols <= max_shared_columns && rows >= std::max(min_tall_panel, 16 * cols);
}

template <scalar T>
index_t factor_panel(matrix_view<T> A, index_t* pivots) {
  return factor_by_halves<this_thread>(A, pivots);
}

template <scalar T>
index_t factor_tall_panel(matrix_view<T> A, index_t* pivots) {
  return factor_by_halves<all_workers>(A, pivots);
}

template <scalar T>
index_t getrf_nopiv_here(matrix_view<T> A) {
  const index_t n = std::min(A.rows(), A.cols());
  if (n <= 16) return eliminate_narrow(A);
  const index_t half = round_up(n / 2, 8);
  const matrix_view<T> left = A.columns(0, half);
  const matrix_view<T> top = A.block(0, half, half, A.cols() - half);
  const matrix_view<T> rest = A.block(half, half, A.rows() - half, A.cols() - half);
  if (const index_t info = getrf_nopiv_here(left)) return info;
  trsm_by<this_thread, T>(side::left, triangle::lower, op::none, diagonal::unit, T{1},
                          left.block(0, 0, half, half), top);
  const matrix_view<T> below = left.block(half, 0, A.rows() - half, half);
  multiply_add_here(T{-1}, strided_of<T>(below, op::none), strided_of<T>(top, op::none), half,
                    rest);
  const index_t info = getrf_nopiv_here(rest);
  return info == 0 ? 0 : info + half;
}

#define CREEK_INSTANTIATE(letter, T)                               \
  template bool is_tall_panel<T>(index_t, index_t) noexcept;       \
  template index_t factor_tall_panel<T>(matrix_view<T>, index_t*); \
  template index_t factor_panel<T>(matrix_view<T>, index_t*);      \
  template index_t getrf_nopiv_here<T>(matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
