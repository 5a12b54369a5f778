// SPDX-License-Identifier: Apache-2.0
// Divide and conquer for the eigenvectors of symmetric tridiagonal matrices.
#pragma once

#include <memory>
#include <vector>

#include "kernels/pack_memory.hpp"
#include "tridiagonal.hpp"

namespace creek::linalg::detail {

template <class R>
class eigen_merge;

/// Halves T by a change of rank one, solves the halves, and merges their solutions. The last merge
/// may compute only some of the eigenvectors. Runs on the workers of the current runtime; the
/// result does not depend on their number.
/// Source: [Cuppen 1981], [Gu 1995].
template <class R>
class divide_and_conquer {
 public:
  /// Makes room for matrices of order n. Throws std::bad_alloc.
  explicit divide_and_conquer(index_t n);
  ~divide_and_conquer();

  /// Replaces t.d by all eigenvalues in ascending order; T of order n is destroyed. Returns info.
  /// Throws std::bad_alloc.
  [[nodiscard]] index_t find_sorted(const tridiagonal<R>& t);

  /// Computes the eigenvectors of eigenvalues [first, first + count), once.
  void find_vectors(index_t first, index_t count);

  /// Returns the columns that hold them, in an order of their own.
  matrix_view<R> vectors() const noexcept { return Q_.columns(0, count_); }
  /// Returns the column of vectors() that belongs to eigenvalue first + k.
  index_t column_of(index_t k) const noexcept;

 private:
  friend class eigen_merge<R>;

  index_t solve(const tridiagonal<R>& t, index_t first, bool is_last);
  index_t solve_leaf(const tridiagonal<R>& t, index_t first);
  std::size_t at(index_t i) const noexcept { return static_cast<std::size_t>(i); }

  index_t n_;
  pack_array<R> memory_;
  matrix_view<R> Q_, copies_, S_;  // vectors; those before a merge; those of the merged matrix
  std::vector<index_t> order_;     // the columns of each solved part in ascending order
  std::unique_ptr<eigen_merge<R>> last_;
  index_t first_ = 0;
  index_t count_ = 0;
};

}  // namespace creek::linalg::detail
