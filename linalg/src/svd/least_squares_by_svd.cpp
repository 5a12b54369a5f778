// SPDX-License-Identifier: Apache-2.0
// Least squares of matrices of any rank by the singular value decomposition of their bidiagonal
// form: the vectors of the matrix itself are not computed.
#include <creek/linalg/svd.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "bidiagonal.hpp"
#include "bidiagonal_divide.hpp"
#include "bidiagonalization.hpp"
#include "checks.hpp"
#include "conjugate_transpose.hpp"
#include "kernels/pack_memory.hpp"
#include "matrix_scale.hpp"

namespace creek::linalg {
namespace detail {
namespace {
namespace svd {

/// C = W diag(1 / s) Z^T C for the singular values s of rank `rank`; C has as many rows as W.
template <scalar T>
void apply_inverse(const_view<real<T>> W, const_view<real<T>> Z, const real<T>* s, index_t rank,
                   matrix_view<T> C) {
  using R = real<T>;
  const index_t n = C.rows(), parts = is_complex<T> ? 2 : 1;
  // A complex C as real columns: the parts of each column, one behind the other.
  const pack_array<R> memory(2 * n * parts * C.cols());
  const matrix_view<R> x(memory.data(), n, parts * C.cols(), n);
  const matrix_view<R> y(memory.data() + n * parts * C.cols(), n, parts * C.cols(), n);
  for (index_t j = 0; j < C.cols(); ++j) {
    for (index_t i = 0; i < n; ++i) {
      x(i, parts * j) = std::real(C(i, j));
      if constexpr (is_complex<T>) x(i, 2 * j + 1) = std::imag(C(i, j));
    }
  }
  const matrix_view<R> weights = y.block(0, 0, rank, y.cols());
  gemm(op::transpose, op::none, R{1}, Z.columns(0, rank), const_view<R>(x), R{0}, weights);
  for (index_t j = 0; j < weights.cols(); ++j) {
    for (index_t i = 0; i < rank; ++i) weights(i, j) /= s[i];
  }
  gemm(op::none, op::none, R{1}, W.columns(0, rank), const_view<R>(weights), R{0}, x);
  for (index_t j = 0; j < C.cols(); ++j) {
    for (index_t i = 0; i < n; ++i) {
      if constexpr (is_complex<T>) {
        C(i, j) = T{x(i, 2 * j), x(i, 2 * j + 1)};
      } else {
        C(i, j) = x(i, j);
      }
    }
  }
}

/// Least squares by a matrix with m >= n (turned = false), or least norms of A^H X = B for one.
template <scalar T>
least_squares_rank solve_tall(matrix_view<T> A, bool turned, matrix_view<T> B, real<T>* s,
                              real<T> rcond) {
  using R = real<T>;
  const index_t m = A.rows(), n = A.cols();
  const bidiagonalization<T> reduced(A);
  const pack_array<R> memory(2 * n * n);
  const matrix_view<R> W(memory.data(), n, n, n), Z(memory.data() + n * n, n, n, n);
  std::copy_n(reduced.diagonal(), n, s);
  const index_t unconverged = bidiagonal_svd(n, s, reduced.above(), W, Z);
  if (unconverged != 0 || std::isnan(s[0])) return {std::max<index_t>(1, unconverged), 0};
  // Half the precision: rounding errors of a matrix without full rank count, as they mostly do in
  // LAPACK, whose singular values of such matrices are less accurate. NumPy tests that they do.
  const R ratio = rcond < 0 || rcond >= 1 ? std::numeric_limits<R>::epsilon() / 4 : rcond;
  const index_t rank = std::count_if(s, s + n, [&](R each) { return each > ratio * s[0]; });
  const matrix_view<T> top = B.block(0, 0, n, B.cols());
  constexpr op adjoint = op::conjugate_transpose;
  if (turned) {
    reduced.apply_right(adjoint, top);
    apply_inverse<T>(W, Z, s, rank, top);
    scale(T{}, B.block(n, 0, m - n, B.cols()));
    reduced.apply_left(op::none, B);
  } else {
    reduced.apply_left(adjoint, B);
    apply_inverse<T>(Z, W, s, rank, top);
    reduced.apply_right(op::none, top);
  }
  return {0, rank};
}

}  // namespace svd
}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
least_squares_rank gelsd(matrix_view<T> A, matrix_view<T> B, std::span<real<T>> s, real<T> rcond) {
  const index_t m = A.rows(), n = A.cols(), k = std::min(m, n);
  require(B.rows() == std::max(m, n), "gelsd",
          "B must have as many rows as A has rows or columns, whichever are more");
  require(static_cast<index_t>(s.size()) >= k, "gelsd", "s must have min(m, n) elements");
  if (k == 0) {
    scale(T{}, B);
    return {0, 0};
  }
  const real<T> most = largest_part<T>(A);
  if (std::isnan(most)) return {matrix_has_nan, 0};
  if (most == 0) {
    scale(T{}, B);
    std::fill_n(s.data(), k, real<T>{});
    return {0, 0};
  }
  const auto of_A = matrix_scale<real<T>>::of_gesdd(most);
  of_A.apply(A);
  const matrix_view<T> right_sides = B.block(0, 0, m, B.cols());
  const auto of_B = matrix_scale<real<T>>::of_gesdd(largest_part<T>(right_sides));
  of_B.apply(right_sides);
  least_squares_rank result{};
  if (m >= n) {
    result = svd::solve_tall(A, false, B, s.data(), rcond);
  } else {
    const pack_array<T> memory(m * n);
    const matrix_view<T> turned(memory.data(), n, m, n);
    conjugate_transpose_to<T>(A, turned);
    result = svd::solve_tall(turned, true, B, s.data(), rcond);
  }
  of_A.apply(B.block(0, 0, n, B.cols()));
  of_A.undo(k, s.data());
  of_B.undo(B);
  return result;
}

#define CREEK_INSTANTIATE(letter, T) \
  template least_squares_rank gelsd<T>(matrix_view<T>, matrix_view<T>, std::span<real<T>>, real<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
