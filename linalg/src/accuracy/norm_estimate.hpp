// SPDX-License-Identifier: Apache-2.0
// Norm estimate of a matrix that can be applied but has no explicit elements, such as an inverse.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include <creek/linalg/matrix.hpp>

#include "magnitudes.hpp"

namespace creek::linalg::detail {

/// Returns the sum of the magnitudes, in double: NaN or infinite if an element is.
template <scalar T>
double sum_of_magnitudes(index_t n, const T* x) noexcept {
  constexpr index_t sums = 4;  // additions that wait for no other
  double sum[sums] = {};
  index_t i = 0;
  for (; i + sums <= n; i += sums) {
    for (index_t k = 0; k < sums; ++k) sum[k] += magnitude(x[i + k]);
  }
  for (; i < n; ++i) sum[0] += magnitude(x[i]);
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// Number of elements of `signs` for estimate_one_norm.
template <scalar T>
constexpr index_t sign_count(index_t n) noexcept {
  return is_complex<T> ? 0 : n;
}

/// The search of estimate_one_norm.
template <scalar T, class Map>
class norm_search {
 public:
  norm_search(index_t n, T* x, T* signs, const Map& A) noexcept
      : n_(n), x_(x), signs_(signs), A_(A) {}

  double run() {
    std::fill_n(x_, n_, T{1} / static_cast<real<T>>(n_));
    if (!measure() || n_ == 1) return estimate_;
    take_signs();
    index_t best = -1;
    for (int step = 0; step < max_units; ++step) {
      if (!A_(op::conjugate_transpose, x_)) return infinity;
      const index_t next = largest_row();
      if (!std::isfinite(magnitude(x_[next]))) return magnitude(x_[next]);
      if (best >= 0 && magnitude(x_[best]) == magnitude(x_[next])) break;
      best = next;
      std::fill_n(x_, n_, T{});
      x_[best] = T{1};
      const double before = estimate_;
      if (!measure()) return estimate_;
      // The same signs lead to the same unit vector.
      if (!(estimate_ > before) || !take_signs()) break;
    }
    // A vector for matrices whose elements cancel in all of the others.
    for (index_t i = 0; i < n_; ++i) {
      const double size = 1 + static_cast<double>(i) / static_cast<double>(n_ - 1);
      x_[i] = static_cast<T>(static_cast<real<T>>(i % 2 == 0 ? size : -size));
    }
    measure(2 / (3 * static_cast<double>(n_)));
    return estimate_;
  }

 private:
  static constexpr int max_units = 4;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// Applies A to x, whose norm is 1 / factor; raises the estimate to what that shows. Returns
  /// false if it is not finite.
  bool measure(double factor = 1) {
    const double found = A_(op::none, x_) ? factor * sum_of_magnitudes(n_, x_) : infinity;
    estimate_ = std::isfinite(found) ? std::max(estimate_, found) : found;
    return std::isfinite(found);
  }

  /// Sets x to its signs; returns whether they are others than before.
  bool take_signs() noexcept {
    if constexpr (is_complex<T>) {
      for (index_t i = 0; i < n_; ++i) {
        const double size = magnitude(x_[i]);
        x_[i] = size > static_cast<double>(std::numeric_limits<real<T>>::min())
                    ? static_cast<T>(widened(x_[i]) / size)
                    : T{1};
      }
      return true;
    } else {
      bool changed = false;
      for (index_t i = 0; i < n_; ++i) {
        const T sign = x_[i] >= 0 ? T{1} : T{-1};
        changed |= sign != signs_[i];
        x_[i] = signs_[i] = sign;
      }
      return changed;
    }
  }

  /// Returns the index of the first element of largest magnitude; of a NaN if there is one.
  index_t largest_row() const noexcept {
    index_t at = 0;
    double found = magnitude(x_[0]);
    for (index_t i = 1; i < n_; ++i) {
      const double here = magnitude(x_[i]);
      if (here <= found) continue;
      found = here;
      at = i;
      if (std::isnan(here)) break;
    }
    return at;
  }

  index_t n_;
  T* x_;
  T* signs_;
  const Map& A_;
  double estimate_ = 0;
};

/// Returns a lower estimate of the one-norm of an n x n matrix A, n > 0; seldom off by a factor of
/// 3. A(how, x) does x = A x, or x = A^H x for op::conjugate_transpose, four or five times in most
/// cases and ten at most; if it returns false, the result is infinite. Infinite or NaN as soon
/// as A x is. `x` has room for n elements, `signs` for sign_count<T>(n).
/// Sources:
/// [Higham 1988]; LAPACK's xLACN2.
template <scalar T, class Map>
double estimate_one_norm(index_t n, T* x, T* signs, const Map& A) {
  return norm_search<T, Map>(n, x, signs, A).run();
}

}  // namespace creek::linalg::detail
