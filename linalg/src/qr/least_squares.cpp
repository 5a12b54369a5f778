// SPDX-License-Identifier: Apache-2.0
// Least squares and least norm by QR.
#include <algorithm>
#include <span>
#include <vector>

#include <creek/linalg/qr.hpp>

#include "checks.hpp"
#include "conjugate_transpose.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"
#include "matrix_scale.hpp"
#include "tall_qr.hpp"
#include "tall_reflectors.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// A = Q R in place, for a matrix at least as high as wide.
template <scalar T>
class factors_in_place {
 public:
  factors_in_place(matrix_view<T> A, const qr_options& options)
      : QR_(A), tau_(static_cast<std::size_t>(A.cols())) {
    if (options.block == 0 && options.report == nullptr && is_tall<T>(A.rows(), A.cols())) {
      triangle_ = matrix<T>(A.cols(), A.cols());
      factor_tall(A, tau_.data(), triangle_.view());
    } else {
      geqrf(A, std::span<T>(tau_), options);
    }
  }

  /// Least squares: solves R X = Q^H B.
  void least_squares(matrix_view<T> B) const {
    apply(op::conjugate_transpose, B);
    solve(op::none, B);
  }
  /// Least-norm X of A^H X = B: X = Q R^-H B.
  void minimum_norm(matrix_view<T> B) const {
    const index_t n = QR_.cols();
    solve(op::conjugate_transpose, B);
    scale(T{}, B.block(n, 0, QR_.rows() - n, B.cols()));
    apply(op::none, B);
  }

 private:
  /// B = op(Q) B, by the triangle T if the factorization has given it.
  void apply(op how, matrix_view<T> B) const {
    const matrix_view<T> rows = B.block(0, 0, QR_.rows(), B.cols());
    if (triangle_.rows() > 0) {
      apply_tall<T>(QR_, triangle_.view(), how != op::none, rows);
    } else {
      ormqr<T>(side::left, how, QR_, tau_, rows);
    }
  }
  void solve(op how, matrix_view<T> B) const {
    const index_t n = QR_.cols();
    trsm<T>(side::left, triangle::upper, how, diagonal::stored, T{1}, QR_.block(0, 0, n, n),
            B.block(0, 0, n, B.cols()));
  }

  matrix_view<T> QR_;
  std::vector<T> tau_;
  matrix<T> triangle_;
};

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
  const auto of_A = matrix_scale<real<T>>::of_gels(most);
  of_A.apply(A);
  const bool wide = A.cols() > A.rows();
  matrix<T> turned;
  if (wide) turned = conjugate_transposed_copy<T>(A);
  const matrix_view<T> high = wide ? turned.view() : A;
  const factors_in_place<T> factors(high, options);
  if (wide) conjugate_transpose_to<T>(turned.view(), A);
  if (const index_t zero = zero_on_diagonal<T>(high)) return zero;

  const index_t equations = how == op::none ? A.rows() : A.cols();
  const index_t unknowns = how == op::none ? A.cols() : A.rows();
  const matrix_view<T> right_sides = B.block(0, 0, equations, B.cols());
  const auto of_B = matrix_scale<real<T>>::of_gels(largest_part<T>(right_sides));
  of_B.apply(right_sides);
  // The tall matrix is factored: its own system is least squares, its transpose's is least norm.
  if ((how == op::none) != wide) {
    factors.least_squares(B);
  } else {
    factors.minimum_norm(B);
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
