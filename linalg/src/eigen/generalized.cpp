// SPDX-License-Identifier: Apache-2.0
// Eigenproblems of two Hermitian matrices, one of them positive definite: reduced to those of one
// matrix by the Cholesky factor of the other.
#include <creek/linalg/eigen.hpp>

#include <algorithm>

#include <creek/linalg/cholesky.hpp>

#include "checks.hpp"
#include "kernels/packing.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Maximum order of matrices that are reduced column by column.
constexpr index_t small_reduction = 32;

/// y += alpha x.
template <scalar T>
void add_multiple(index_t n, T alpha, const T* x, T* y) {
  const T weight = -alpha;
  subtract(n, 1, x, 0, &weight, y);
}

/// Two vectors side by side, for Hermitian updates of rank 2.
template <scalar T>
class vector_pair {
 public:
  vector_pair(index_t n, const T* a, const T* b) noexcept {
    std::copy_n(a, n, memory_);
    std::copy_n(b, n, memory_ + small_reduction);
  }
  /// column[i] -= sign (a[first + i] conj(b[j]) + b[first + i] conj(a[j])) for n elements.
  void subtract_from(index_t first, index_t n, index_t j, T sign, T* column) const noexcept {
    const T weights[] = {sign * conjugated(memory_[small_reduction + j]),
                         sign * conjugated(memory_[j])};
    subtract(n, 2, memory_ + first, small_reduction, weights, column);
  }

 private:
  T memory_[2 * small_reduction];
};

/// A = inv(L) A inv(L^H) in the lower triangle. Source: LAPACK's hegs2.
template <scalar T>
void divide_small(matrix_view<T> A, const_view<T> L) {
  using R = real<T>;
  for (index_t k = 0; k < A.rows(); ++k) {
    const index_t below = A.rows() - k - 1;
    const R pivot = std::real(L(k, k)), corner = std::real(A(k, k)) / (pivot * pivot);
    A(k, k) = corner;
    T* const a = A.column(k) + k + 1;
    const T* const l = L.column(k) + k + 1;
    for (index_t i = 0; i < below; ++i) a[i] /= pivot;
    add_multiple(below, T{-corner / 2}, l, a);
    const vector_pair<T> both(below, a, l);
    for (index_t j = 0; j < below; ++j) {
      both.subtract_from(j, below - j, j, T{1}, &A(k + 1 + j, k + 1 + j));
    }
    make_diagonal_real(A.block(k + 1, k + 1, below, below));
    add_multiple(below, T{-corner / 2}, l, a);
    for (index_t i = 0; i < below; ++i) {
      a[i] /= std::real(L(k + 1 + i, k + 1 + i));
      subtract(below - i - 1, 1, L.column(k + 1 + i) + k + 2 + i, 0, a + i, a + i + 1);
    }
  }
}

/// A = U A U^H in the upper triangle. Source: LAPACK's hegs2.
template <scalar T>
void multiply_small(matrix_view<T> A, const_view<T> U) {
  using R = real<T>;
  for (index_t k = 0; k < A.rows(); ++k) {
    const R pivot = std::real(U(k, k)), corner = std::real(A(k, k));
    T* const a = A.column(k);
    const T* const u = U.column(k);
    for (index_t i = 0; i < k; ++i) {
      const T x = a[i];
      add_multiple(i, x, U.column(i), a);
      a[i] = x * std::real(U(i, i));
    }
    add_multiple(k, T{corner / 2}, u, a);
    const vector_pair<T> both(k, a, u);
    for (index_t j = 0; j < k; ++j) both.subtract_from(0, j + 1, j, T{-1}, A.column(j));
    make_diagonal_real(A.block(0, 0, k, k));
    add_multiple(k, T{corner / 2}, u, a);
    for (index_t i = 0; i < k; ++i) a[i] *= pivot;
    a[k] = corner * pivot * pivot;
  }
}

/// Writes the conjugate transpose of one triangle of A to the other triangle of B.
template <scalar T>
void turn_triangle(triangle stored, const_view<T> A, matrix_view<T> B) {
  for (index_t j = 0; j < A.cols(); ++j) {
    const index_t first = stored == triangle::lower ? j : 0;
    const index_t last = stored == triangle::lower ? A.rows() : j + 1;
    for (index_t i = first; i < last; ++i) B(j, i) = conjugated(A(i, j));
  }
}

/// Divides in the lower triangle or multiplies in the upper one, which work by columns.
template <scalar T>
void reduce_small(bool divides, triangle stored, matrix_view<T> A, const_view<T> B) {
  const triangle by_columns = divides ? triangle::lower : triangle::upper;
  const auto run = divides ? &divide_small<T> : &multiply_small<T>;
  if (stored == by_columns) return run(A, B);
  const index_t n = A.rows();
  T a[small_reduction * small_reduction], b[small_reduction * small_reduction];
  const matrix_view<T> turned_a(a, n, n, n), turned_b(b, n, n, n);
  turn_triangle<T>(stored, A, turned_a);
  turn_triangle<T>(stored, B, turned_b);
  run(turned_a, turned_b);
  turn_triangle<T>(by_columns, turned_a, A);
}

/// A recursion on halves, whose products are as large as they can be. Each step of LAPACK's hegst
/// is one on two blocks, A11 and A22; `P` is the block of A between them.
template <scalar T>
void reduce_to_standard(bool divides, triangle stored, matrix_view<T> A, const_view<T> B) {
  const index_t n = A.rows();
  if (n <= small_reduction) return reduce_small(divides, stored, A, B);
  const index_t half = round_up(n / 2, 16), rest = n - half;
  const bool low = stored == triangle::lower;
  // Sides on which the first and the second diagonal block of a matrix multiply P.
  const side first = low ? side::right : side::left, second = low ? side::left : side::right;
  const op turned = op::conjugate_transpose;
  const matrix_view<T> A11 = A.block(0, 0, half, half), A22 = A.block(half, half, rest, rest);
  const const_view<T> B11 = B.block(0, 0, half, half), B22 = B.block(half, half, rest, rest);
  const matrix_view<T> P = low ? A.block(half, 0, rest, half) : A.block(0, half, half, rest);
  const const_view<T> Q = low ? B.block(half, 0, rest, half) : B.block(0, half, half, rest);
  reduce_to_standard(divides, stored, A11, B11);
  const T one_half = T{real<T>(0.5)};
  if (divides) {
    trsm(first, stored, turned, diagonal::stored, T{1}, B11, P);
    hemm(first, stored, -one_half, A11, Q, T{1}, P);
    her2k(stored, low ? op::none : turned, T{-1}, P, Q, real<T>{1}, A22);
    hemm(first, stored, -one_half, A11, Q, T{1}, P);
    trsm(second, stored, op::none, diagonal::stored, T{1}, B22, P);
  } else {
    trmm(first, stored, op::none, diagonal::stored, T{1}, B11, P);
    hemm(second, stored, one_half, A22, Q, T{1}, P);
    her2k(stored, low ? turned : op::none, T{1}, P, Q, real<T>{1}, A11);
    hemm(second, stored, one_half, A22, Q, T{1}, P);
    trmm(second, stored, turned, diagonal::stored, T{1}, B22, P);
  }
  reduce_to_standard(divides, stored, A22, B22);
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void hegst(eigen_equation equation, triangle stored, matrix_view<T> A, input<T> B) {
  require(A.rows() == A.cols() && B.rows() == A.rows() && B.cols() == A.cols(), "hegst",
          "A and B must be square and of the same order");
  if (A.rows() == 0) return;
  reduce_to_standard<T>(equation == eigen_equation::ax_is_wbx, stored, A, B);
}

template <scalar T>
index_t hegvd(eigen_equation equation, eigen_job job, triangle stored, matrix_view<T> A,
              matrix_view<T> B, std::span<real<T>> w) {
  const index_t n = A.rows();
  require(A.cols() == n && B.rows() == n && B.cols() == n, "hegvd",
          "A and B must be square and of the same order");
  require(static_cast<index_t>(w.size()) >= n, "hegvd",
          "w must have as many elements as A has rows");
  if (const index_t info = potrf(stored, B)) return n + info;
  hegst<T>(equation, stored, A, B);
  const index_t info = heevd(job, stored, A, w);
  if (job == eigen_job::values || info != 0) return info;
  const bool low = stored == triangle::lower;
  if (equation == eigen_equation::bax_is_wx) {
    trmm(side::left, stored, low ? op::none : op::conjugate_transpose, diagonal::stored, T{1}, B,
         A);
  } else {
    trsm(side::left, stored, low ? op::conjugate_transpose : op::none, diagonal::stored, T{1}, B,
         A);
  }
  return 0;
}

#define CREEK_INSTANTIATE(letter, T)                                                             \
  template void hegst<T>(eigen_equation, triangle, matrix_view<T>, const_view<T>);               \
  template index_t hegvd<T>(eigen_equation, eigen_job, triangle, matrix_view<T>, matrix_view<T>, \
                            std::span<real<T>>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
