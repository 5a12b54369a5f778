// SPDX-License-Identifier: Apache-2.0
// Eigenvalues as LAPACK returns them: real matrices have arrays of real and imaginary parts.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <optional>
#include <span>
#include <vector>

#include "c_interface.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// The caller's array for the eigenvalues of a complex matrix.
template <scalar T>
struct eigenvalue_arrays {
  T* w;

  /// Calls f(span) to compute `count` eigenvalues, and returns its result.
  template <class F>
  auto fill(blas_int count, F f) const {
    return f(std::span<T>(w, static_cast<std::size_t>(count)));
  }
};

/// The caller's arrays for those of a real matrix.
template <scalar T>
requires(!is_complex<T>) struct eigenvalue_arrays<T> {
  T* re;
  T* im;

  template <class F>
  auto fill(blas_int count, F f) const {
    constexpr blas_int few = 64;
    if (count <= few) {
      std::array<std::complex<T>, few> w;
      return fill_from(std::span<std::complex<T>>(w.data(), static_cast<std::size_t>(count)), f);
    }
    std::vector<std::complex<T>> w(static_cast<std::size_t>(count));
    return fill_from(std::span<std::complex<T>>(w), f);
  }

 private:
  template <class F>
  auto fill_from(std::span<std::complex<T>> w, F f) const {
    const auto result = f(w);
    for (std::size_t i = 0; i < w.size(); ++i) {
      re[i] = w[i].real();
      im[i] = w[i].imag();
    }
    return result;
  }
};

/// Whether vectors are to be computed, as geev and gees spell it.
enum class wanted : char { no = 'N', yes = 'V' };

inline std::optional<wanted> parse_wanted(char letter) noexcept {
  return parse_letter(letter, wanted::no, wanted::yes);
}

/// Returns the leading dimension of vectors that are not wanted, as LAPACKE passes it on: that of a
/// row-major array is not looked at.
inline blas_int absent_leading(const c_call& how, blas_int given) noexcept {
  const bool by_rows = parse_layout(how.given_layout) == layout::rows;
  return by_rows ? std::max<blas_int>(1, given) : given;
}

/// Returns the length that LAPACK's hseqr asks for, of which this library uses none.
inline double hseqr_length(double n, double rows) {
  struct sizes {
    double shifts, window;

    sizes(double order, double active) : shifts(2), window(0) {
      if (active >= 30) shifts = 4;
      if (active >= 60) shifts = 10;
      if (active >= 150)
        shifts = std::max(10.0, std::floor(active / std::round(std::log2(active))));
      if (active >= 590) shifts = 64;
      if (active >= 3000) shifts = 128;
      if (active >= 6000) shifts = 256;
      shifts = std::max(2.0, shifts - std::fmod(shifts, 2));
      window = active <= 500 ? shifts : std::floor(3 * shifts / 2);
      window = std::min({active, std::floor((order - 1) / 3), std::max(2.0, window)});
      shifts = std::min({shifts, std::floor((order - 3) / 6), active - 1});
      shifts = std::max(2.0, shifts - std::fmod(shifts, 2));
    }
    /// Length for a window, which is reduced to Hessenberg form again.
    double length(double active) const {
      const double order = std::min(window + 1, active);
      return order <= 2 ? 1 : order + 32 * order + 65 * 64;
    }
  };
  constexpr double tiny = 15;
  if (n <= tiny) return std::max(1.0, n);
  const sizes outer(n, rows);
  double best = std::max(std::floor(3 * outer.shifts / 2), outer.length(rows));
  const double window = std::min(outer.window + 1, rows);
  if (window > tiny) {
    const sizes inner(window, window);
    best = std::max({best, std::floor(3 * inner.shifts / 2), inner.length(window)});
  }
  return std::max(n, best);
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
