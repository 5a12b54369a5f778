// SPDX-License-Identifier: Apache-2.0
// LU factorization with partial pivoting, and solving with it.
//
// Threads and errors as in blas3.hpp. `info` is LAPACK's: 0, or the 1-based index of the first
// exact zero on the diagonal of U, which makes U singular; the factorization is complete even
// then.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>

namespace creek::linalg {

/// How the updates of a factorization are cut into tasks.
enum class update_tasks : std::uint8_t {
  columns,  ///< one per block of columns, whose operands are packed once: for few workers
  blocks    ///< one per square block: many more tasks at once, for many workers
};

struct lu_options {
  /// Columns per panel; 0 chooses by the size.
  index_t block = 0;
  /// Receives the runs of the tasks (graph_options::record), or nullptr to record none.
  graph_report* report = nullptr;
  update_tasks updates = update_tasks::columns;
};

/// P A = L U, A is m x n, 2/3 n^3 flops if square. A becomes L (below the diagonal; its ones are
/// not stored) and U. Row i was exchanged with row pivots[i] (0-based, >= i), in order of i;
/// `pivots` has min(m, n) elements. Returns info.
///
/// Right-looking: a panel is factored by halving it [Toledo 1997] and packed once; the
/// update of every block of columns uses it packed, and exchanges rows while it packs its
/// own columns. Panels run ahead of the updates by the panel before (look-ahead [Kurzak
/// 2006]).
template <scalar T>
[[nodiscard]] index_t getrf(matrix_view<T> A, std::span<index_t> pivots,
                            const lu_options& options = {});

/// Returns the tasks of getrf with update_tasks::blocks without running them; reads only the shape
/// of A. For power::policy_options::plan. `block` must not be 0.
template <scalar T>
work_graph getrf_plan(matrix_view<T> A, index_t block);

/// Solves op(A) X = B with the result of getrf of a square A; B becomes X.
template <scalar T>
void getrs(op how, input<T> LU, std::span<const index_t> pivots, matrix_view<T> B);

/// Solves A X = B; A becomes its factors, B becomes X unless info is not 0. Returns info.
template <scalar T>
[[nodiscard]] index_t gesv(matrix_view<T> A, std::span<index_t> pivots, matrix_view<T> B,
                           const lu_options& options = {});

/// Exchanges row i with row pivots[i], for i from 0 upwards, or down to 0 if `backwards`.
template <scalar T>
void laswp(matrix_view<T> A, std::span<const index_t> pivots, bool backwards = false);

/// LU factorization that owns its matrix.
template <scalar T>
class lu {
 public:
  explicit lu(matrix<T> A, const lu_options& options = {})
      : factors_(std::move(A)),
        pivots_(static_cast<std::size_t>(std::min(factors_.rows(), factors_.cols()))),
        info_(getrf(factors_.view(), std::span<index_t>(pivots_), options)) {}

  index_t info() const noexcept { return info_; }
  const matrix<T>& factors() const noexcept { return factors_; }
  std::span<const index_t> pivots() const noexcept { return pivots_; }

  /// Returns the X of op(A) X = B for a square A. Infinite or NaN if info() is not 0.
  matrix<T> solve(matrix<T> B, op how = op::none) const {
    getrs(how, factors_.view(), pivots(), B.view());
    return B;
  }

 private:
  matrix<T> factors_;
  std::vector<index_t> pivots_;
  index_t info_;
};

}  // namespace creek::linalg
