// SPDX-License-Identifier: Apache-2.0
// Products of a Hermitian matrix and a vector, which read the stored triangle once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include <creek/linalg/matrix.hpp>

#include "blas3/workers.hpp"
#include "kernels/eigen_kernels.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

/// y += A u and v = A^H x in one pass over A.
template <scalar T>
void multiply_both(const_view<T> A, const T* x, T* y, const T* u, T* v) noexcept {
  using R = real<T>;
  const auto& kernels = eigen_kernels_of<R>();
  (is_complex<T> ? kernels.multiply_both_complex : kernels.multiply_both)(
      A.rows(), A.cols(), reinterpret_cast<const R*>(A.data()), A.leading(),
      reinterpret_cast<const R*>(x), reinterpret_cast<R*>(y), reinterpret_cast<const R*>(u),
      reinterpret_cast<R*>(v));
}

/// y = A x from the lower triangle of A, whose diagonal counts as real. The columns are divided
/// into pieces with results of their own, which are added in order: the result depends on the
/// order of A alone.
template <scalar T>
class split_hermitian_product {
 public:
  /// Rows that are worth a piece.
  static constexpr index_t piece_rows = 192;
  static constexpr index_t max_pieces = 16;

  static index_t pieces_of(index_t n) noexcept {
    return std::clamp<index_t>(n / piece_rows, 1, max_pieces);
  }
  /// Returns the number of elements of `partial` for orders up to n.
  static index_t room(index_t n) noexcept { return n * pieces_of(n); }

  /// Runs also beside(), which is independent of the product.
  template <class Beside>
  static void multiply(const_view<T> A, const T* x, T* partial, T* y, const Beside& beside) {
    const index_t n = A.rows(), pieces = pieces_of(n);
    if (pieces == 1) {
      std::fill_n(y, n, T{});
      add_columns(A, 0, n, x, y);
      return beside();
    }
    std::array<index_t, max_pieces + 1> bounds;
    divide(n, pieces, bounds);
    all_workers::for_each(pieces + 1, [&](index_t p) {
      if (p == pieces) return beside();
      const index_t first = bounds[static_cast<std::size_t>(p)];
      T* const to = partial + p * n;
      std::fill(to + first, to + n, T{});
      add_columns(A, first, bounds[static_cast<std::size_t>(p) + 1], x, to);
    });
    std::copy_n(partial, n, y);
    for (index_t p = 1; p < pieces; ++p) {
      for (index_t i = bounds[static_cast<std::size_t>(p)]; i < n; ++i) y[i] += partial[p * n + i];
    }
  }

 private:
  static constexpr index_t strip = 8;

  /// Chooses columns so that each piece has as many elements.
  static void divide(index_t n, index_t pieces, std::array<index_t, max_pieces + 1>& bounds) {
    bounds[0] = 0;
    index_t first = 0;
    for (index_t p = 1; p < pieces; ++p) {
      // The rest below column c is the triangle of order n - c.
      const double share = static_cast<double>(pieces - p) / static_cast<double>(pieces);
      const auto below = static_cast<index_t>(static_cast<double>(n) * std::sqrt(share));
      first = std::max(first, (n - below) / strip * strip);
      bounds[static_cast<std::size_t>(p)] = first;
    }
    bounds[static_cast<std::size_t>(pieces)] = n;
  }

  /// y += A x for a strip's triangle.
  static void add_triangle(const_view<T> A, const T* x, T* y) noexcept {
    const index_t n = A.rows();
    T from[strip] = {}, sums[strip] = {};  // not aliased by A, so kept in registers
    std::copy_n(x, n, from);
    for (index_t c = 0; c < n; ++c) {
      const T* const column = A.column(c);
      T sum = std::real(column[c]) * from[c];
      for (index_t i = c + 1; i < n; ++i) {
        sums[i] += times(column[i], from[c]);
        sum += times(conjugated(column[i]), from[i]);
      }
      sums[c] += sum;
    }
    for (index_t i = 0; i < n; ++i) y[i] += sums[i];
  }

  /// y += the part of A x for the columns [first, last) and the rows that mirror them.
  static void add_columns(const_view<T> A, index_t first, index_t last, const T* x, T* y) noexcept {
    const index_t n = A.rows();
    for (index_t j = first; j < last; j += strip) {
      const index_t width = std::min(strip, last - j), below = j + width;
      add_triangle(A.block(j, j, width, width), x + j, y + j);
      T sums[strip];
      multiply_both<T>(A.block(below, j, n - below, width), x + below, y + below, x + j, sums);
      for (index_t c = 0; c < width; ++c) y[j + c] += sums[c];
    }
  }
};

}  // namespace creek::linalg::detail
