// SPDX-License-Identifier: Apache-2.0
// Plane rotations, and the columns that they combine.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// The rotation (c, s; -s, c) that maps (f, g) to (r, 0).
template <class R>
struct plane_rotation {
  R c, s;
  R r;

  /// Neither overflows nor underflows on the way. Source: LAPACK's lartg.
  static plane_rotation of(R f, R g) noexcept {
    using limits = std::numeric_limits<R>;
    if (g == 0) return {1, 0, f};
    if (f == 0) return {0, std::copysign(R{1}, g), std::abs(g)};
    static const R least = std::sqrt(limits::min()), most = std::sqrt(limits::max() / 2);
    const R size_f = std::abs(f), size_g = std::abs(g);
    if (size_f > least && size_f < most && size_g > least && size_g < most) {
      const R length = std::sqrt(f * f + g * g);
      const R r = std::copysign(length, f);
      return {size_f / length, g / r, r};
    }
    const R unit = std::clamp(std::max(size_f, size_g), limits::min(), 1 / limits::min());
    const R a = f / unit, b = g / unit;
    const R length = std::sqrt(a * a + b * b);
    const R r = std::copysign(length, f);
    return {std::abs(a) / length, b / r, r * unit};
  }
};

/// Columns of real numbers that rotations combine: vectors, or some of their rows.
template <class R>
struct rotated_columns {
  R* data = nullptr;
  index_t length = 0;  ///< 0: there are none
  index_t leading = 1;

  R* column(index_t j) const noexcept { return data + j * leading; }
  /// (x, y) = (c x + s y, c y - s x) for the columns i and j.
  void rotate(index_t i, index_t j, R c, R s) const noexcept {
    if (length == 0) return;
    R* const x = column(i);
    R* const y = column(j);
    for (index_t k = 0; k < length; ++k) {
      const R a = x[k], b = y[k];
      x[k] = c * a + s * b;
      y[k] = c * b - s * a;
    }
  }
  void negate(index_t j) const noexcept {
    if (length == 0) return;
    for (index_t k = 0; k < length; ++k) column(j)[k] = -column(j)[k];
  }
  void swap(index_t i, index_t j) const noexcept {
    if (length == 0) return;
    for (index_t k = 0; k < length; ++k) std::swap(column(i)[k], column(j)[k]);
  }
};

/// The rows of a matrix of T as real columns: rotations are real for complex matrices too.
template <scalar T>
rotated_columns<real<T>> columns_of(matrix_view<T> A) noexcept {
  constexpr index_t parts = is_complex<T> ? 2 : 1;
  return {reinterpret_cast<real<T>*>(A.data()), parts * A.rows(), parts * A.leading()};
}

}  // namespace creek::linalg::detail
