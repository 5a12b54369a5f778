// SPDX-License-Identifier: Apache-2.0
// QR factorization by Householder reflectors, also with column pivoting, LQ factorization, and
// least squares.
//
// Threads and errors as in blas3.hpp.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <creek/core/error.hpp>
#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>

namespace creek::linalg {

struct qr_options {
  /// Columns per panel; 0 chooses by the size.
  index_t block = 0;
  /// Receives the runs of the tasks (graph_options::record), or nullptr to record none.
  graph_report* report = nullptr;
};

/// A = Q R, A is m x n, 2 n^2 (m - n/3) flops. A becomes R on and above the diagonal, and below it
/// the vectors v of the reflectors I - tau v v^H, whose product is Q; the first element of v, 1, is
/// not stored. `tau` has min(m, n) elements.
template <scalar T>
void geqrf(matrix_view<T> A, std::span<T> tau, const qr_options& options = {});

/// C = op(Q) C (left) or C op(Q) (right), where Q is the product of the tau.size() reflectors in
/// the columns of `QR`; how is none or conjugate_transpose (for real T also transpose).
template <scalar T>
void ormqr(side where, op how, input<T> QR, std::span<const T> tau, matrix_view<T> C);

/// Replaces the tau.size() <= A.cols() <= A.rows() reflectors in A by the first A.cols() columns of
/// Q.
template <scalar T>
void orgqr(matrix_view<T> A, std::span<const T> tau);

/// A P = Q R, where P exchanges columns so that the diagonal of R descends and shows the numerical
/// rank. The first `fixed` columns stay in front; each of the others is the one with the largest
/// rest. A and `tau` become as in geqrf. Column j of A P is column pivots[j] of A; `pivots` has as
/// many elements as A has columns. LAPACK's geqp3.
/// Source: [Quintana-Orti 1998], with the norms of [Drmac 2008].
template <scalar T>
void geqp3(matrix_view<T> A, std::span<index_t> pivots, std::span<T> tau, index_t fixed = 0);

/// A = L Q. A becomes L on and below the diagonal, and above it the conjugated vectors of the
/// reflectors, as the conjugate transpose of the QR factors of A^H. `tau` has min(m, n) elements.
template <scalar T>
void gelqf(matrix_view<T> A, std::span<T> tau);

/// C = op(Q) C (left) or C op(Q) (right) with the Q of gelqf, whose tau.size() reflectors are in
/// the rows of `LQ`; how as in ormqr.
template <scalar T>
void ormlq(side where, op how, input<T> LQ, std::span<const T> tau, matrix_view<T> C);

/// Replaces the tau.size() <= A.rows() <= A.cols() reflectors in A by the first A.rows() rows of Q.
template <scalar T>
void orglq(matrix_view<T> A, std::span<const T> tau);

/// Solves op(A) X = B in the sense of least squares (more equations than unknowns) or least
/// norm (fewer), by QR of A, or of A^H if A is wider than high; A must have full rank. A
/// becomes its factors: the QR ones, or the conjugate transposed QR factors of A^H. B has
/// max(m, n) rows: its first rows hold the right-hand sides on entry and X on exit; for least
/// squares, the sum of squares of the rows below X is that of the residual. how is none or
/// conjugate_transpose (for real T also transpose). As in LAPACK, matrices with a tiny or huge
/// largest element are scaled meanwhile (A's factors stay those of the scaled one), and X is
/// zero if A is. Returns 0, or the 1-based index of an exact zero on the diagonal of R: nothing
/// was solved then.
template <scalar T>
[[nodiscard]] index_t gels(op how, matrix_view<T> A, matrix_view<T> B,
                           const qr_options& options = {});

/// QR factorization that owns its matrix.
template <scalar T>
class qr {
 public:
  explicit qr(matrix<T> A, const qr_options& options = {})
      : factors_(std::move(A)),
        tau_(static_cast<std::size_t>(std::min(factors_.rows(), factors_.cols()))) {
    geqrf(factors_.view(), std::span<T>(tau_), options);
  }

  const matrix<T>& factors() const noexcept { return factors_; }
  std::span<const T> tau() const noexcept { return tau_; }

  /// Returns Q^H B.
  matrix<T> project(matrix<T> B) const {
    ormqr(side::left, op::conjugate_transpose, factors_.view(), tau(), B.view());
    return B;
  }
  /// Returns the X that minimizes the norm of A X - B. Throws usage_error if A has more columns
  /// than rows.
  matrix<T> solve(matrix<T> B) const {
    if (factors_.cols() > factors_.rows()) {
      throw usage_error(
          "qr: the matrix has more columns than rows; gels() finds the least solution");
    }
    const index_t n = factors_.cols();
    const matrix<T> projected = project(std::move(B));
    matrix<T> X(projected.view().block(0, 0, n, projected.cols()));
    trsm(side::left, triangle::upper, op::none, diagonal::stored, T{1},
         factors_.view().block(0, 0, n, n), X.view());
    return X;
  }

 private:
  matrix<T> factors_;
  std::vector<T> tau_;
};

}  // namespace creek::linalg
