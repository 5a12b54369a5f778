// SPDX-License-Identifier: Apache-2.0
// Reflectors and rotations of two or three elements, which QR iterations apply by the million, and
// the standard form of a real 2 x 2 block.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include <creek/linalg/matrix.hpp>

#include "kernels/vector_kernels.hpp"
#include "reflector_kernels.hpp"

namespace creek::linalg::detail {

/// Returns |re| + |im|, the magnitude in tests for small elements.
template <scalar T>
real<T> size_of(T x) noexcept {
  return std::abs(std::real(x)) + std::abs(std::imag(x));
}

/// Smallest number whose reciprocal does not overflow, and the relative rounding error.
template <class R>
inline constexpr R safe_minimum = std::numeric_limits<R>::min();
template <class R>
inline constexpr R precision = std::numeric_limits<R>::epsilon();

/// Reflector I - tau v v^H, v = (1, v1, v2), of two elements if v2 is zero.
template <scalar T>
struct small_reflector {
  T tau{};
  T v1{};
  T v2{};

  /// Makes the reflector that maps (x0, x1, x2) to (beta, 0, 0); returns beta.
  T make(T x0, T x1, T x2 = T{}) noexcept {
    using R = real<T>;
    R scale = 1;
    const R most = std::max({size_of(x0), size_of(x1), size_of(x2)});
    constexpr R small = safe_minimum<R> / (precision<R> * precision<R>);
    if (most * most < small || !(most * most < std::numeric_limits<R>::max() / 4)) {
      if (most == 0 || !(most <= std::numeric_limits<R>::max())) {
        tau = v1 = v2 = T{};
        return x0;
      }
      int exponent = 0;
      std::frexp(most, &exponent);
      scale = std::ldexp(R{1}, std::min(exponent, std::numeric_limits<R>::max_exponent - 1));
      x0 /= scale;
      x1 /= scale;
      x2 /= scale;
    }
    const R rest = std::norm(x1) + std::norm(x2);
    if (rest == 0 && std::imag(x0) == 0) {
      tau = v1 = v2 = T{};
      return x0 * scale;
    }
    const R length = std::sqrt(std::norm(x0) + rest);
    const R beta = std::signbit(std::real(x0)) ? length : -length;
    tau = (T{beta} - x0) / beta;
    const T factor = T{1} / (x0 - T{beta});
    v1 = times(x1, factor);
    v2 = times(x2, factor);
    return T{beta * scale};
  }

  /// Applies the reflector from the right to three columns of `rows` elements.
  void apply_right(index_t rows, T* x0, T* x1, T* x2) const noexcept {
    const T v[] = {v1, v2};
    const T t[] = {tau, times(tau, conjugated(v1)), times(tau, conjugated(v2))};
    using R = real<T>;
    const auto& kernels = reflector_kernels_of<R>();
    (is_complex<T> ? kernels.columns_complex : kernels.columns)(
        rows, reinterpret_cast<R*>(x0), reinterpret_cast<R*>(x1), reinterpret_cast<R*>(x2),
        reinterpret_cast<const R*>(v), reinterpret_cast<const R*>(t));
  }
  /// Applies its conjugate transpose from the left to three rows of `cols` elements.
  void apply_left(index_t cols, T* x, index_t leading) const noexcept {
    const T v[] = {conjugated(v1), conjugated(v2)};
    const T turned = conjugated(tau);
    const T t[] = {turned, times(turned, v1), times(turned, v2)};
    using R = real<T>;
    const auto& kernels = reflector_kernels_of<R>();
    (is_complex<T> ? kernels.rows_complex : kernels.rows)(cols, reinterpret_cast<R*>(x), leading,
                                                          reinterpret_cast<const R*>(v),
                                                          reinterpret_cast<const R*>(t));
  }
  /// The same for a reflector of two elements.
  void apply_right(index_t rows, T* x0, T* x1) const noexcept {
    const T t1 = times(tau, conjugated(v1));
    for (index_t i = 0; i < rows; ++i) {
      const T s = x0[i] + times(v1, x1[i]);
      x0[i] -= times(s, tau);
      x1[i] -= times(s, t1);
    }
  }
  void apply_left_pair(index_t cols, T* x, index_t leading) const noexcept {
    const T turned = conjugated(tau), t1 = times(turned, v1);
    for (index_t j = 0; j < cols; ++j, x += leading) {
      const T s = x[0] + times(conjugated(v1), x[1]);
      x[0] -= times(s, turned);
      x[1] -= times(s, t1);
    }
  }
};

/// Rotation [c s; -s^H c] that maps (f, g) to (r, 0), with real c.
template <scalar T>
struct rotation {
  real<T> c = 1;
  T s{};

  void make(T f, T g) noexcept {
    c = 1;
    s = T{};
    if (g == T{}) return;
    const real<T> size_f = std::abs(f), size_g = std::abs(g);
    if (size_f == 0) {
      c = 0;
      s = conjugated(g) / size_g;
      return;
    }
    const real<T> length = std::hypot(size_f, size_g);
    c = size_f / length;
    // The direction of f, which r keeps.
    s = f / size_f * (conjugated(g) / length);
  }
  /// (x, y) = (c x + s y, c y - s^H x) for n elements, `step` apart.
  void apply(index_t n, T* x, T* y, index_t step) const noexcept {
    const T turned = conjugated(s);
    for (index_t i = 0; i < n; ++i, x += step, y += step) {
      const T first = c * *x + times(s, *y);
      *y = c * *y - times(turned, *x);
      *x = first;
    }
  }
  void apply(index_t n, T* x, T* y) const noexcept {
    const T turned = conjugated(s);
    for (index_t i = 0; i < n; ++i) {
      const T first = c * x[i] + times(s, y[i]);
      y[i] = c * y[i] - times(turned, x[i]);
      x[i] = first;
    }
  }
};

/// Rotates a real 2 x 2 block [a b; c d] to its standard form: c is zero, or a = d and b c < 0.
/// Returns the rotation; the block and its eigenvalues are in the members.
/// Source: LAPACK's lanv2 [Bai 1993].
template <class R>
struct standard_block {
  R a, b, c, d;
  std::complex<R> first{}, second{};

  rotation<R> make() noexcept {
    const rotation<R> turn = rotate();
    first = a;
    second = d;
    if (c != 0) {
      const R im = std::sqrt(std::abs(b)) * std::sqrt(std::abs(c));
      first = {a, im};
      second = {d, -im};
    }
    return turn;
  }

 private:
  rotation<R> rotate() noexcept {
    if (c == 0) return {};
    if (b == 0) {
      std::swap(a, d);
      b = -c;
      c = 0;
      return {0, 1};
    }
    if (a - d == 0 && std::signbit(b) != std::signbit(c)) return {};
    const R difference = a - d, half = difference / 2;
    const R most = std::max(std::abs(b), std::abs(c));
    const R least =
        std::min(std::abs(b), std::abs(c)) * std::copysign(R{1}, b) * std::copysign(R{1}, c);
    const R scale = std::max(std::abs(half), most);
    const R z = (half / scale) * half + (most / scale) * least;
    // Real eigenvalues that are not almost equal: makes the block triangular.
    if (z >= 4 * precision<R>) {
      const R p = half + std::copysign(std::sqrt(scale) * std::sqrt(z), half);
      a = d + p;
      d -= (most / p) * least;
      const R length = std::hypot(c, p);
      const rotation<R> turn{p / length, c / length};
      b -= c;
      c = 0;
      return turn;
    }
    return equalize(difference);
  }

  /// Complex or almost equal real eigenvalues: makes the diagonal equal.
  rotation<R> equalize(R difference) noexcept {
    R sigma = b + c;
    // A power of two near the root of the smallest number, by which sums are kept in range.
    static const R shrink = std::ldexp(
        R{1}, (std::numeric_limits<R>::min_exponent + std::numeric_limits<R>::digits) / 2);
    for (int tries = 0; tries < 20; ++tries) {
      const R size = std::max(std::abs(difference), std::abs(sigma));
      if (size >= 1 / shrink) {
        sigma *= shrink;
        difference *= shrink;
      } else if (size <= shrink && size > 0) {
        sigma /= shrink;
        difference /= shrink;
      } else {
        break;
      }
    }
    const R length = std::hypot(sigma, difference);
    rotation<R> turn;
    turn.c = std::sqrt((1 + std::abs(sigma) / length) / 2);
    turn.s = -(difference / 2 / (length * turn.c)) * std::copysign(R{1}, sigma);
    const R aa = a * turn.c + b * turn.s, bb = -a * turn.s + b * turn.c;
    const R cc = c * turn.c + d * turn.s, dd = -c * turn.s + d * turn.c;
    a = aa * turn.c + cc * turn.s;
    b = bb * turn.c + dd * turn.s;
    c = -aa * turn.s + cc * turn.c;
    d = -bb * turn.s + dd * turn.c;
    const R middle = (a + d) / 2;
    a = d = middle;
    if (c == 0) return turn;
    if (b == 0) {
      b = -c;
      c = 0;
      return {-turn.s, turn.c};
    }
    if (std::signbit(b) != std::signbit(c)) return turn;
    // Real after all.
    const R root_b = std::sqrt(std::abs(b)), root_c = std::sqrt(std::abs(c));
    const R p = std::copysign(root_b * root_c, c);
    const R tau = 1 / std::sqrt(std::abs(b + c));
    a = middle + p;
    d = middle - p;
    b -= c;
    c = 0;
    const R c1 = root_b * tau, s1 = root_c * tau;
    return {turn.c * c1 - turn.s * s1, turn.c * s1 + turn.s * c1};
  }
};

}  // namespace creek::linalg::detail
