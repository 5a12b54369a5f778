// SPDX-License-Identifier: Apache-2.0
// Cholesky factorization of Hermitian (real: symmetric) positive definite matrices.
//
// Threads and errors as in blas3.hpp. `info` is LAPACK's: 0, or the 1-based order of the first
// leading block that is not positive definite; the factorization stops there.
#pragma once

#include <utility>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>

namespace creek::linalg {

struct cholesky_options {
  /// Columns per panel; 0 chooses by the size.
  index_t block = 0;
  /// Receives the runs of the tasks (graph_options::record), or nullptr to record none.
  graph_report* report = nullptr;
};

/// A = L L^H (lower) or U^H U (upper), 1/3 n^3 flops. The triangle `stored` of A becomes the
/// factor; the other triangle is neither read nor written. Returns info.
template <scalar T>
[[nodiscard]] index_t potrf(triangle stored, matrix_view<T> A,
                            const cholesky_options& options = {});

/// Solves A X = B with the result of potrf; B becomes X.
template <scalar T>
void potrs(triangle stored, input<T> factor, matrix_view<T> B);

/// Solves A X = B; A becomes its factor, B becomes X unless info is not 0. Returns info.
template <scalar T>
[[nodiscard]] index_t posv(triangle stored, matrix_view<T> A, matrix_view<T> B,
                           const cholesky_options& options = {});

/// Cholesky factorization that owns its matrix.
template <scalar T>
class cholesky {
 public:
  explicit cholesky(matrix<T> A, triangle stored = triangle::lower,
                    const cholesky_options& options = {})
      : factor_(std::move(A)), stored_(stored), info_(potrf(stored, factor_.view(), options)) {}

  index_t info() const noexcept { return info_; }
  /// Returns the matrix with the factor in the triangle that was asked for.
  const matrix<T>& factor() const noexcept { return factor_; }

  /// Returns the X of A X = B. Meaningless if info() is not 0.
  matrix<T> solve(matrix<T> B) const {
    potrs(stored_, factor_.view(), B.view());
    return B;
  }

 private:
  matrix<T> factor_;
  triangle stored_;
  index_t info_;
};

}  // namespace creek::linalg
