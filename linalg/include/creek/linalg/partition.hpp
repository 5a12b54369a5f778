// SPDX-License-Identifier: Apache-2.0
// Partitions of matrices, so that a blocked algorithm reads like its derivation. In step k of it
//
//       A00 | A01 | A02
//       ----+-----+----
//       A10 | A11 | A12       A11 is the k-th block on the diagonal.
//       ----+-----+----
//       A20 | A21 | A22
//
// Works for column-major views with a block size, and for views of tiles.
// Source: [van de Geijn 2008].
#pragma once

#include <algorithm>
#include <concepts>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg {

/// View that knows the size of its blocks.
template <class View>
concept tiled_view = requires(const View A) {
  { A.tile_size() } -> std::same_as<index_t>;
};

template <class View>
struct partition_3x3 {
  View A00, A01, A02;
  View A10, A11, A12;
  View A20, A21, A22;
};

/// Three parts above or next to each other.
template <class View>
struct partition_3 {
  View A0, A1, A2;
};

namespace detail {

/// Splits n into [0, before), [before, before + here) and the rest.
struct three_parts {
  index_t before, here, after;
  three_parts(index_t n, index_t k, index_t block) noexcept
      : before(std::min(k * block, n)),
        here(std::min(block, n - before)),
        after(n - before - here) {}
};

}  // namespace detail

/// Returns the number of diagonal blocks: the steps of an algorithm along the diagonal.
template <class View>
index_t steps(const View& A, index_t block) noexcept {
  const index_t n = std::min(A.rows(), A.cols());
  return n / block + (n % block != 0);
}
template <tiled_view View>
index_t steps(const View& A) noexcept {
  return steps(A, A.tile_size());
}

/// Returns the parts of A in step k; parts at the border may be empty.
template <class View>
partition_3x3<View> partition(const View& A, index_t k, index_t block) noexcept {
  const detail::three_parts r(A.rows(), k, block), c(A.cols(), k, block);
  const index_t i1 = r.before, i2 = i1 + r.here, j1 = c.before, j2 = j1 + c.here;
  return {A.block(0, 0, i1, j1),
          A.block(0, j1, i1, c.here),
          A.block(0, j2, i1, c.after),
          A.block(i1, 0, r.here, j1),
          A.block(i1, j1, r.here, c.here),
          A.block(i1, j2, r.here, c.after),
          A.block(i2, 0, r.after, j1),
          A.block(i2, j1, r.after, c.here),
          A.block(i2, j2, r.after, c.after)};
}
template <tiled_view View>
partition_3x3<View> partition(const View& A, index_t k) noexcept {
  return partition(A, k, A.tile_size());
}

/// Returns the rows above, in and below block k.
template <class View>
partition_3<View> partition_rows(const View& A, index_t k, index_t block) noexcept {
  const detail::three_parts r(A.rows(), k, block);
  return {A.block(0, 0, r.before, A.cols()), A.block(r.before, 0, r.here, A.cols()),
          A.block(r.before + r.here, 0, r.after, A.cols())};
}
template <tiled_view View>
partition_3<View> partition_rows(const View& A, index_t k) noexcept {
  return partition_rows(A, k, A.tile_size());
}

/// Returns the columns left of, in and right of block k.
template <class View>
partition_3<View> partition_cols(const View& A, index_t k, index_t block) noexcept {
  const detail::three_parts c(A.cols(), k, block);
  return {A.block(0, 0, A.rows(), c.before), A.block(0, c.before, A.rows(), c.here),
          A.block(0, c.before + c.here, A.rows(), c.after)};
}
template <tiled_view View>
partition_3<View> partition_cols(const View& A, index_t k) noexcept {
  return partition_cols(A, k, A.tile_size());
}

}  // namespace creek::linalg
