// SPDX-License-Identifier: Apache-2.0
// One merge of divide and conquer: the eigenvalues and vectors of diag(T1, T2) + rho v v^T from
// those of T1 and T2.
#pragma once

#include <vector>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// The part of the solution that a merge changes.
template <class R>
struct merged_part {
  matrix_view<R> Q;       ///< in its diagonal blocks the vectors of both halves
  matrix_view<R> copies;  ///< room for as many elements, columns not apart
  matrix_view<R> S;       ///< room for a matrix of the same order
  R* d;                   ///< eigenvalues of both halves, then those of the whole
  index_t* order;         ///< columns in ascending order, within each half, then of the whole
};

template <class R>
class eigen_merge {
 public:
  /// `half` is the order of T1; T1 and T2 are coupled by the off-diagonal `coupling`, whose
  /// magnitude was taken from both diagonals. Throws std::bad_alloc.
  eigen_merge(const merged_part<R>& part, index_t half, R coupling);

  /// Computes the eigenvalues.
  void find_values();

  /// Computes the vectors of eigenvalues [first, first + count) into the first `count` columns of
  /// Q, those of the secular equation first.
  void find_vectors(index_t first, index_t count);

  /// Returns the column of Q that holds the vector of eigenvalue k, of those computed.
  index_t column_of(index_t k) const noexcept;

 private:
  /// Rows of a column of Q that are not zero.
  enum class extent : char { top, both, bottom };
  struct wanted_columns {
    index_t first, count;              // among the roots
    index_t other_first, other_count;  // among the deflated columns
  };

  index_t order() const noexcept { return part_.Q.rows(); }
  index_t roots() const noexcept { return static_cast<index_t>(poles_.size()); }
  void deflate();
  void rotate_away(index_t from, index_t into, R c, R s);
  void extend(index_t column);
  void group_columns();
  void copy_columns();
  void solve_roots();
  void make_weights();
  void make_vectors(index_t first, index_t count);
  wanted_columns find_wanted(index_t first, index_t count) const noexcept;
  template <class Body>
  void for_pieces(index_t count, index_t size, const Body& body) const;
  void multiply(const_view<R> a, const_view<R> b, matrix_view<R> c) const;

  merged_part<R> part_;
  index_t half_;
  R rho_;
  std::vector<R> z_;
  std::vector<extent> extents_;    // of each column
  std::vector<index_t> poles_;     // columns that are not deflated, by ascending d
  std::vector<index_t> deflated_;  // the others, by ascending d
  std::vector<index_t> row_of_;    // row of S of each pole: top first, bottom last
  index_t tops_ = 0, boths_ = 0;   // poles of each extent
  std::vector<R> pole_d_, pole_z_, weights_;
  bool is_wide_;  // worth the workers
  index_t shown_first_ = 0;
  wanted_columns shown_{};
};

}  // namespace creek::linalg::detail
