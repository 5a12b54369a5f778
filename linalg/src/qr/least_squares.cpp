// SPDX-License-Identifier: Apache-2.0
// Least squares and least norm by QR.
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include <creek/linalg/qr.hpp>

#include "accuracy/magnitudes.hpp"
#include "checks.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg {
namespace detail {
namespace {

template <scalar T>
matrix<T> conjugate_transpose(const_view<T> A) {
  matrix<T> B(A.cols(), A.rows());
  for (index_t j = 0; j < A.cols(); ++j) {
    for (index_t i = 0; i < A.rows(); ++i) B(j, i) = conjugated(A(i, j));
  }
  return B;
}

/// Returns the larger part (re or im) of the largest element, which unlike a complex magnitude
/// cannot overflow. NaN if there is one.
template <scalar T>
real<T> largest_part(const_view<T> A) {
  double most = 0;
  for (index_t j = 0; j < A.cols() && A.rows() > 0; ++j) {
    const T x = A(largest(A.rows(), A.column(j)), j);
    most = greater(most, greater(std::abs(std::real(x)), std::abs(std::imag(x))));
  }
  return static_cast<real<T>>(most);
}

/// Factor by which a matrix is multiplied, to / from, without overflow or underflow.
template <scalar T>
struct scaling {
  real<T> from = 1;
  real<T> to = 1;

  /// Returns the scaling of a matrix with that largest element into the range of LAPACK's gels.
  static scaling of(real<T> most) {
    constexpr auto least =
        std::numeric_limits<real<T>>::min() / std::numeric_limits<real<T>>::epsilon();
    if (most > 0 && most < least) return {most, least};
    if (most > 1 / least && !std::isinf(most)) return {most, 1 / least};
    return {};
  }
  void apply(matrix_view<T> A) const { scale(T{to / from}, A); }
  void undo(matrix_view<T> A) const { scale(T{from / to}, A); }
};

/// Least squares by A = Q R with more rows than columns: solves R X = Q^H B.
template <scalar T>
void least_squares(const_view<T> QR, std::span<const T> tau, matrix_view<T> B) {
  const index_t n = QR.cols();
  ormqr<T>(side::left, op::conjugate_transpose, QR, tau, B.block(0, 0, QR.rows(), B.cols()));
  trsm<T>(side::left, triangle::upper, op::none, diagonal::stored, T{1}, QR.block(0, 0, n, n),
          B.block(0, 0, n, B.cols()));
}

/// Least-norm X of A^H X = B by A = Q R: X = Q R^-H B.
template <scalar T>
void least_norm(const_view<T> QR, std::span<const T> tau, matrix_view<T> B) {
  const index_t n = QR.cols();
  trsm<T>(side::left, triangle::upper, op::conjugate_transpose, diagonal::stored, T{1},
          QR.block(0, 0, n, n), B.block(0, 0, n, B.cols()));
  scale(T{}, B.block(n, 0, QR.rows() - n, B.cols()));
  ormqr<T>(side::left, op::none, QR, tau, B.block(0, 0, QR.rows(), B.cols()));
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
index_t gels(op how, matrix_view<T> A, matrix_view<T> B, const qr_options& options) {
  require(B.rows() == std::max(A.rows(), A.cols()), "gels",
          "B must have as many rows as A has rows or columns, whichever are more");
  require(!is_complex<T> || how != op::transpose, "gels",
          "of complex numbers only A and its conjugate transpose can be solved with");
  const real<T> most = largest_part<T>(A);
  if (most == 0) {
    scale(T{}, B);
    return 0;
  }
  const auto of_A = scaling<T>::of(most);
  of_A.apply(A);
  std::vector<T> tau(static_cast<std::size_t>(std::min(A.rows(), A.cols())));
  const bool wide = A.cols() > A.rows();
  matrix<T> turned;
  if (wide) turned = conjugate_transpose<T>(A);
  const matrix_view<T> factors = wide ? turned.view() : A;
  geqrf(factors, std::span<T>(tau), options);
  if (wide) copy<T>(conjugate_transpose<T>(turned.view()).view(), A);
  if (const index_t zero = zero_on_diagonal<T>(factors)) return zero;

  const index_t equations = how == op::none ? A.rows() : A.cols();
  const index_t unknowns = how == op::none ? A.cols() : A.rows();
  const matrix_view<T> right_sides = B.block(0, 0, equations, B.cols());
  const auto of_B = scaling<T>::of(largest_part<T>(right_sides));
  of_B.apply(right_sides);
  // The tall matrix is factored: its own system is least squares, its transpose's is least norm.
  if ((how == op::none) != wide) {
    least_squares<T>(factors, tau, B);
  } else {
    least_norm<T>(factors, tau, B);
  }
  of_A.apply(B.block(0, 0, unknowns, B.cols()));
  of_B.undo(B);
  return 0;
}

#define CREEK_INSTANTIATE(letter, T) \
  template index_t gels<T>(op, matrix_view<T>, matrix_view<T>, const qr_options&);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
