// SPDX-License-Identifier: Apache-2.0
// The vectors V of a block of reflectors, packed once for products with many strips of columns.
#pragma once

#include <memory>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Runs in the calling thread; several threads may use one at once.
template <scalar T>
class packed_vectors {
 public:
  /// V is m x n. With `unit_triangle`, m >= n, and V begins with a unit lower triangle whose ones
  /// and zeros are not stored.
  packed_vectors(const_view<T> V, bool unit_triangle);
  ~packed_vectors();
  packed_vectors(const packed_vectors&) = delete;
  packed_vectors& operator=(const packed_vectors&) = delete;

  /// Adds V^H C to the products, which are zero. They may have more rows than V has columns; if
  /// those make whole tiles, nothing is copied.
  void project(const_view<T> C, matrix_view<T> products) const;
  /// C -= V W.
  void subtract(const_view<T> W, matrix_view<T> C) const;

 private:
  struct arrays;
  index_t rows_, order_, top_;  // top_: rows of the unit triangle
  std::unique_ptr<const arrays> arrays_;
};

}  // namespace creek::linalg::detail
