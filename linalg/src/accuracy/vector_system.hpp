// SPDX-License-Identifier: Apache-2.0
// Systems of equations with one right-hand side: products with the matrix, solutions by its
// factors. In the calling thread, without packing.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <creek/linalg/matrix.hpp>

#include "checks.hpp"
#include "kernels/vector_kernels.hpp"
#include "vector_solve.hpp"

namespace creek::linalg::detail {

/// Columns of a matrix whose products with a vector are summed at once.
inline constexpr index_t projected_columns = 8;

/// Returns |re| + |im| in the precision of T.
template <scalar T>
real<T> short_magnitude(T x) noexcept {
  if constexpr (is_complex<T>) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else {
    return std::abs(x);
  }
}

/// w += |a| x for n rows.
template <scalar T>
void add_magnitudes(index_t n, const T* a, real<T> x, real<T>* w) noexcept {
  for (index_t i = 0; i < n; ++i) w[i] += short_magnitude(a[i]) * x;
}
/// Returns |a|^T x for n rows.
template <scalar T>
real<T> magnitude_product(index_t n, const T* a, const real<T>* x) noexcept {
  constexpr index_t sums = 4;
  real<T> sum[sums] = {};
  index_t i = 0;
  for (; i + sums <= n; i += sums) {
    for (index_t k = 0; k < sums; ++k) sum[k] += short_magnitude(a[i + k]) * x[i + k];
  }
  for (; i < n; ++i) sum[0] += short_magnitude(a[i]) * x[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// y -= A^H x.
template <scalar T>
void subtract_projection(const_view<T> A, const T* x, T* y) noexcept {
  T sums[projected_columns] = {};
  for (index_t j = 0; j < A.cols(); j += projected_columns) {
    const index_t cols = std::min(projected_columns, A.cols() - j);
    project(A.rows(), cols, A.column(j), A.leading(), x, sums);
    for (index_t c = 0; c < cols; ++c) y[j + c] -= sums[c];
  }
}

/// Reciprocals of a diagonal, for systems that are solved several times. Those of large matrices
/// are not stored: there, divisions take little of the time.
template <scalar T>
class diagonal_reciprocals {
 public:
  explicit diagonal_reciprocals(const_view<T> A) noexcept : stored_(A.rows() <= max_order) {
    if (stored_) invert_diagonal(A, few_);
  }
  /// Returns the argument of solve_vector().
  const T* data() const noexcept { return stored_ ? few_ : nullptr; }

 private:
  static constexpr index_t max_order = 64;
  bool stored_;
  T few_[max_order];
};

/// System op(A) x = b with a matrix and its LU factors.
template <scalar T>
struct lu_system {
  op how;
  const_view<T> A;
  const_view<T> LU;
  std::span<const index_t> pivots;
  diagonal_reciprocals<T> reciprocals{LU};

  /// r -= op(A) x; x is the same afterwards.
  void subtract_product(T* x, T* r) const noexcept {
    const index_t n = A.rows();
    if (how == op::none) return subtract(n, n, A.data(), A.leading(), x, r);
    // The transpose is the conjugate of the adjoint.
    const bool turned = is_complex<T> && how == op::transpose;
    if (turned) conjugate_vector(n, x);
    if (turned) conjugate_vector(n, r);
    subtract_projection(A, x, r);
    if (turned) conjugate_vector(n, x);
    if (turned) conjugate_vector(n, r);
  }
  /// w += |op(A)| x.
  void add_magnitude_product(const real<T>* x, real<T>* w) const noexcept {
    const index_t n = A.rows();
    for (index_t j = 0; j < n; ++j) {
      if (how == op::none) {
        add_magnitudes(n, A.column(j), x[j], w);
      } else {
        w[j] += magnitude_product(n, A.column(j), x);
      }
    }
  }
  void solve(T* x) const noexcept { solve_with(how, x); }
  void solve_adjoint(T* x) const noexcept {
    if (how != op::transpose || !is_complex<T>) return solve_with(other(how, true), x);
    // The adjoint of the transpose is the conjugate.
    conjugate_vector(A.rows(), x);
    solve_with(op::none, x);
    conjugate_vector(A.rows(), x);
  }

 private:
  void solve_with(op which, T* x) const noexcept {
    const index_t n = A.rows();
    const auto pivot = [&](index_t i) { return pivots[static_cast<std::size_t>(i)]; };
    if (which == op::none) {
      for (index_t i = 0; i < n; ++i) std::swap(x[i], x[pivot(i)]);
      solve_vector<T>(triangle::lower, which, diagonal::unit, LU, reciprocals.data(), x);
      solve_vector<T>(triangle::upper, which, diagonal::stored, LU, reciprocals.data(), x);
    } else {
      solve_vector<T>(triangle::upper, which, diagonal::stored, LU, reciprocals.data(), x);
      solve_vector<T>(triangle::lower, which, diagonal::unit, LU, reciprocals.data(), x);
      for (index_t i = n; i-- > 0;) std::swap(x[i], x[pivot(i)]);
    }
  }
};

/// System A x = b with a Hermitian positive definite matrix and its Cholesky factor.
template <scalar T>
struct cholesky_system {
  triangle stored;
  const_view<T> A;
  const_view<T> factor;
  diagonal_reciprocals<T> reciprocals{factor};

  void subtract_product(const T* x, T* r) const noexcept {
    const index_t n = A.rows();
    for (index_t j = 0; j < n; j += projected_columns) {
      const index_t end = std::min(n, j + projected_columns);
      for (index_t c = j; c < end; ++c) {
        r[c] -= std::real(A(c, c)) * x[c];
        const index_t top = stored == triangle::lower ? c + 1 : j;
        const index_t bottom = stored == triangle::lower ? end : c;
        for (index_t i = top; i < bottom; ++i) {
          r[i] -= times(A(i, c), x[c]);
          r[c] -= times(conjugated(A(i, c)), x[i]);
        }
      }
      const index_t first = stored == triangle::lower ? end : 0;
      const index_t rows = stored == triangle::lower ? n - end : j;
      if (rows == 0) continue;
      subtract(rows, end - j, &A(first, j), A.leading(), x + j, r + first);
      subtract_projection(A.block(first, j, rows, end - j), x + first, r + j);
    }
  }
  void add_magnitude_product(const real<T>* x, real<T>* w) const noexcept {
    const index_t n = A.rows();
    for (index_t j = 0; j < n; ++j) {
      const index_t first = stored == triangle::lower ? j + 1 : 0;
      const index_t rows = stored == triangle::lower ? n - j - 1 : j;
      const T* const column = A.column(j) + first;
      add_magnitudes(rows, column, x[j], w + first);
      w[j] += magnitude_product(rows, column, x + first) + std::abs(std::real(A(j, j))) * x[j];
    }
  }
  void solve(T* x) const noexcept {
    const op first = stored == triangle::lower ? op::none : op::conjugate_transpose;
    for (const op how : {first, detail::other(first, true)}) {
      solve_vector<T>(stored, how, diagonal::stored, factor, reciprocals.data(), x);
    }
  }
  void solve_adjoint(T* x) const noexcept { solve(x); }
};

}  // namespace creek::linalg::detail
