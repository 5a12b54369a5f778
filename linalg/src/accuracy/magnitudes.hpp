// SPDX-License-Identifier: Apache-2.0
// Sums and maxima of magnitudes that neither lose a NaN nor overflow in intermediate steps.
#pragma once

#include <cmath>
#include <complex>
#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Type for sums of values of type T.
template <scalar T>
using wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <scalar T>
wide<T> widened(T value) noexcept {
  return static_cast<wide<T>>(value);
}

/// Returns |x|. std::abs takes ten times as long for complex x, as squares could overflow.
template <scalar T>
double magnitude(T x) noexcept {
  if constexpr (is_complex<T>) {
    const wide<T> value = widened(x);
    const double squared = value.real() * value.real() + value.imag() * value.imag();
    if (squared > 1e-280 && squared < 1e300) return std::sqrt(squared);
    return std::abs(value);
  } else {
    return std::abs(static_cast<double>(x));
  }
}

/// Returns |re| + |im|, which needs no square root; LAPACK uses it in bounds.
template <scalar T>
double magnitude_sum(T x) noexcept {
  return std::abs(static_cast<double>(std::real(x))) + std::abs(static_cast<double>(std::imag(x)));
}

/// Returns the larger one, or NaN if either is NaN; std::max could drop it.
inline double greater(double a, double b) noexcept {
  return a >= b || std::isnan(a) ? a : b;
}

/// Square root of a sum of squares, kept as scale * sqrt(sum) like LAPACK's xLASSQ.
class root_of_squares {
 public:
  void add(double magnitude, double times = 1) noexcept {
    if (magnitude == 0) return;
    if (scale_ == magnitude) {  // also infinite ones
      sum_ += times;
    } else if (scale_ < magnitude) {
      const double ratio = scale_ / magnitude;
      sum_ = times + sum_ * ratio * ratio;
      scale_ = magnitude;
    } else {
      const double ratio = magnitude / scale_;
      sum_ += times * ratio * ratio;
    }
  }
  double value() const noexcept { return scale_ == 0 ? sum_ : scale_ * std::sqrt(sum_); }

 private:
  double scale_ = 0;
  double sum_ = 0;
};

}  // namespace creek::linalg::detail
