// SPDX-License-Identifier: Apache-2.0
// WORK and LWORK of LAPACK's routines.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "arguments.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// An array that the caller lends. Nothing is kept in it, since linalg has its own memory; but
/// callers ask how long it should be, and pass the length they get to other routines, too.
template <scalar T>
class workspace {
 public:
  workspace(T* data, blas_int length) noexcept : data_(data), length_(length) {}

  /// Returns whether there is room for `least` elements and at least one, or only the best length
  /// is asked for.
  bool holds(index_t least) const noexcept {
    constexpr index_t longest = std::numeric_limits<blas_int>::max();
    return asked() || index_t{length_} >= std::clamp<index_t>(least, 1, longest);
  }
  /// Writes LAPACK's best length to the first element, rounded up if T cannot hold all its digits,
  /// or `least` if the best length exceeds the integers. Returns whether only the length was asked
  /// for.
  bool tell_length(double best, index_t least) const noexcept {
    constexpr auto integers = static_cast<double>(std::numeric_limits<blas_int>::max());
    const real<T> told = rounded_up(best);
    *data_ = told < integers ? told : rounded_up(static_cast<double>(least));
    return asked();
  }

 private:
  static real<T> rounded_up(double count) noexcept {
    const auto near = static_cast<real<T>>(std::max(1.0, count));
    return near < count ? std::nextafter(near, std::numeric_limits<real<T>>::max()) : near;
  }
  bool asked() const noexcept { return length_ == -1; }

  T* data_;
  blas_int length_;
};

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
