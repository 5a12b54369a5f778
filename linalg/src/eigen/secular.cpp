// SPDX-License-Identifier: Apache-2.0
#include "secular.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/eigen_kernels.hpp"

namespace creek::linalg::detail {
namespace {

/// Iterations after which a root counts as found: LAPACK allows 30, and needs at most 8 or so.
constexpr int secular_steps = 60;
constexpr int cubic_steps = 40;

template <class R>
R square(R x) noexcept {
  return x * x;
}

/// Returns the root of c x^2 - a x + b of smaller magnitude if a > 0, else the other one: that of
/// an interpolation by two poles that lies between them.
template <class R>
R root_between(R a, R b, R c) noexcept {
  const R root = std::sqrt(std::abs(a * a - 4 * b * c));
  if (c == 0) return b / a;
  return a <= 0 ? (a - root) / (2 * c) : 2 * b / (a + root);
}

/// Three poles: f(x) = rest + sum of z_i / (d_i - x), which is `f_at_0` at x = 0.
struct three_poles {
  double rest;
  double d[3];
  double z[3];
  double f_at_0;
};

/// Returns the root of f in (d_1, d_2) if `right`, else in (d_0, d_1), near 0; or a point close to
/// it. In double, as powers of small differences would underflow in float.
/// Source: the iteration of Gragg, Thornton and Warner, LAPACK's laed6.
double solve_three_poles(const three_poles& f, bool right, bool guess) noexcept {
  const auto& d = f.d;
  const auto& z = f.z;
  const int l = right ? 1 : 0;
  double low = d[l], high = d[l + 1];
  (f.f_at_0 < 0 ? low : high) = 0;
  double x = 0;
  if (guess) {
    const int third = right ? 0 : 2;
    const double half = right ? (d[2] - d[1]) / 2 : (d[0] - d[1]) / 2;
    const double c = f.rest + z[third] / ((d[third] - d[1]) - half);
    const double a = c * (d[l] + d[l + 1]) + z[l] + z[l + 1];
    const double b = c * d[l] * d[l + 1] + z[l] * d[l + 1] + z[l + 1] * d[l];
    const double most = std::max({std::abs(a), std::abs(b), std::abs(c)});
    x = root_between(a / most, b / most, c / most);
    if (!(x >= low && x <= high)) x = (low + high) / 2;
    if (x == d[0] || x == d[1] || x == d[2]) {
      x = 0;
    } else {
      double value = f.f_at_0;
      for (int i = 0; i < 3; ++i) value += x * z[i] / (d[i] * (d[i] - x));
      (value <= 0 ? low : high) = x;
      if (std::abs(f.f_at_0) <= std::abs(value)) x = 0;
    }
  }
  constexpr double roundoff = std::numeric_limits<double>::epsilon() / 2;
  for (int step = 0; step < cubic_steps; ++step) {
    double sum = 0, error = 0, first = 0, second = 0;
    for (int i = 0; i < 3; ++i) {
      if (d[i] == x) return x;
      const double inverse = 1 / (d[i] - x);
      const double term = z[i] * inverse;
      sum += term / d[i];
      error += std::abs(term / d[i]);
      first += term * inverse;
      second += term * inverse * inverse;
    }
    const double value = f.f_at_0 + x * sum;
    error = 8 * (std::abs(f.f_at_0) + std::abs(x) * error) + std::abs(x) * first;
    if (std::abs(value) <= 4 * roundoff * error || high - low <= 4 * roundoff * std::abs(x)) {
      return x;
    }
    (value <= 0 ? low : high) = x;
    const double left = d[l] - x, other = d[l + 1] - x;
    const double a = (left + other) * value - left * other * first;
    const double b = left * other * value;
    const double c = value - (left + other) * first + left * other * second;
    const double most = std::max({std::abs(a), std::abs(b), std::abs(c)});
    double change = root_between(a / most, b / most, c / most);
    if (!(value * change < 0)) change = -value / first;
    x += change;
    if (!(x >= low && x <= high)) x = (low + high) / 2;
  }
  return x;
}

/// One root, as its distance `tau` to the pole `origin`.
template <class R>
class root_search {
 public:
  root_search(const secular_equation<R>& of, index_t j) noexcept : of_(of), j_(j) {}

  /// Returns the root and writes the differences.
  R find(R* delta) noexcept {
    if (j_ + 1 == of_.n) {
      begin_last();
    } else {
      begin();
    }
    for (int step = 0; step < secular_steps && !evaluate(step); ++step) {
      const R before = tau_;
      advance(step);
      if (tau_ == before) break;
    }
    eigen_kernels_of<R>().differences(of_.n, of_.d, of_.d[origin_], tau_, delta);
    return of_.d[origin_] + tau_;
  }

 private:
  R distance(index_t i) const noexcept { return (of_.d[i] - of_.d[origin_]) - tau_; }
  secular_terms<R> terms(index_t first, index_t count, R origin, R shift, R weight,
                         R step) const noexcept {
    return eigen_kernels_of<R>().secular_sums(count, of_.d + first, of_.z + first, origin, shift,
                                              weight, step);
  }

  /// The root lies in (d_n, d_n + rho): interpolates with the last two poles.
  void begin_last() noexcept {
    const index_t n = of_.n;
    const R middle = of_.rho / 2;
    const R z0 = square(of_.z[n - 2]), z1 = square(of_.z[n - 1]);
    const R gap = of_.d[n - 1] - of_.d[n - 2];
    const R c = 1 / of_.rho + terms(0, n - 2, of_.d[n - 1], middle, 0, 0).sum;
    const R w = c + z0 / (-gap - middle) + z1 / -middle;
    const R a = -c * gap + z0 + z1, b = z1 * gap;
    const R root = std::sqrt(std::abs(a * a + 4 * b * c));
    tau_ = a < 0 ? 2 * b / (root - a) : (a + root) / (2 * c);
    if (w <= 0 && c <= z0 / (gap + of_.rho) + z1 / of_.rho) tau_ = of_.rho;
    origin_ = pole_ = n - 1;
    low_ = w <= 0 ? middle : R{0};
    high_ = w <= 0 ? of_.rho : middle;
    if (!(tau_ > low_ && tau_ <= high_)) tau_ = low_ + (high_ - low_) / 2;
  }

  /// The root lies in (d_j, d_j+1): takes the nearer end for the origin.
  void begin() noexcept {
    const index_t j = j_, n = of_.n;
    const R gap = of_.d[j + 1] - of_.d[j], middle = gap / 2;
    const R z0 = square(of_.z[j]), z1 = square(of_.z[j + 1]);
    const R c = 1 / of_.rho + terms(0, j, of_.d[j], middle, 0, 0).sum +
                terms(j + 2, n - j - 2, of_.d[j], middle, 0, 0).sum;
    const R w = c + z0 / -middle + z1 / (gap - middle);
    if (w > 0) {
      origin_ = j;
      low_ = 0;
      high_ = middle;
      const R a = c * gap + z0 + z1, b = z0 * gap;
      const R root = std::sqrt(std::abs(a * a - 4 * b * c));
      tau_ = a > 0 ? 2 * b / (a + root) : (a - root) / (2 * c);
    } else {
      origin_ = j + 1;
      low_ = -middle;
      high_ = 0;
      const R a = c * gap - z0 - z1, b = z1 * gap;
      const R root = std::sqrt(std::abs(a * a + 4 * b * c));
      tau_ = a < 0 ? 2 * b / (a - root) : -(a + root) / (2 * c);
    }
    pole_ = origin_;
    if (!(tau_ >= low_ && tau_ <= high_) || tau_ == 0) tau_ = low_ + (high_ - low_) / 2;
  }

  /// Computes the function at tau; returns whether it is zero up to rounding.
  bool evaluate(int step) noexcept {
    const R origin = of_.d[origin_];
    const index_t behind = of_.n - pole_ - 1;
    // Sums from the far ends towards the pole: far terms pass through more additions.
    const auto before = terms(0, pole_, origin, tau_, static_cast<R>(pole_), R{-1});
    const auto after = terms(pole_ + 1, behind, origin, tau_, R{1}, R{1});
    psi_ = before.sum;
    psi_slope_ = before.derivative;
    phi_ = after.sum;
    phi_slope_ = after.derivative;
    const R ratio = of_.z[pole_] / distance(pole_);
    const R own = of_.z[pole_] * ratio;
    const R inverse_rho = 1 / of_.rho;
    rest_ = inverse_rho + phi_ + psi_;
    slope_ = psi_slope_ + phi_slope_ + square(ratio);
    const R previous = w_;
    w_ = rest_ + own;
    const R error = 8 * (phi_ - psi_) + (std::abs(before.weighted) + after.weighted) +
                    2 * inverse_rho + 3 * std::abs(own) + std::abs(tau_) * slope_;
    constexpr R roundoff = std::numeric_limits<R>::epsilon() / 2;
    if (std::abs(w_) <= roundoff * error) return true;
    R& end = w_ <= 0 ? low_ : high_;
    end = w_ <= 0 ? std::max(low_, tau_) : std::min(high_, tau_);
    const bool is_inner = j_ + 1 < of_.n;
    if (step == 0) {
      has_three_ =
          is_inner && pole_ != 0 && pole_ + 1 != of_.n && (origin_ == j_ ? rest_ < 0 : rest_ > 0);
    } else if (step == 1) {
      fixed_ = (origin_ == j_ ? -w_ : w_) > std::abs(previous) / 10;
    } else if (w_ * previous > 0 && std::abs(w_) > std::abs(previous) / 10) {
      fixed_ = !fixed_;
    }
    return false;
  }

  void advance(int step) noexcept {
    R change = j_ + 1 == of_.n ? last_change() : has_three_ ? cubic_change(step) : middle_change();
    if (!(w_ * change < 0)) change = -w_ / slope_;
    const R next = tau_ + change;
    if (!(next >= low_ && next <= high_)) change = ((w_ < 0 ? high_ : low_) - tau_) / 2;
    tau_ += change;
  }

  R last_change() const noexcept {
    const index_t n = of_.n;
    const R d0 = distance(n - 2), d1 = distance(n - 1);
    const R own_slope = square(of_.z[n - 1] / d1);
    const R c = std::abs(w_ - d0 * psi_slope_ - d1 * own_slope);
    const R a = (d0 + d1) * w_ - d0 * d1 * (psi_slope_ + own_slope);
    const R b = d0 * d1 * w_;
    if (c == 0) return high_ - tau_;
    const R root = std::sqrt(std::abs(a * a - 4 * b * c));
    return a >= 0 ? (a + root) / (2 * c) : 2 * b / (a - root);
  }

  /// Interpolates with the two poles beside the root: the "middle way", or with fixed weights.
  R middle_change() const noexcept {
    const R d0 = distance(j_), d1 = distance(j_ + 1);
    const bool left = origin_ == j_;
    const R z = of_.z[origin_];
    R psi_slope = psi_slope_, phi_slope = phi_slope_, c;
    if (fixed_) {
      (left ? psi_slope : phi_slope) += square(z / distance(origin_));
      c = w_ - d0 * psi_slope - d1 * phi_slope;
    } else {
      const R gap = of_.d[j_] - of_.d[j_ + 1];
      c = left ? w_ - d1 * slope_ - gap * square(z / d0) : w_ - d0 * slope_ + gap * square(z / d1);
    }
    R a = (d0 + d1) * w_ - d0 * d1 * slope_;
    const R b = d0 * d1 * w_;
    if (c == 0 && a == 0) {
      const R both = psi_slope + phi_slope;
      a = fixed_ ? square(d0) * psi_slope + square(d1) * phi_slope
                 : square(z) + square(left ? d1 : d0) * both;
    }
    return root_between(a, b, c);
  }

  /// Interpolates with three poles, where that of the origin weighs little.
  R cubic_change(int step) const noexcept {
    const index_t before = pole_ - 1, after = pole_ + 1;
    const double d0 = distance(before), d2 = distance(after);
    const double psi = psi_slope_, phi = phi_slope_;
    three_poles f{0, {d0, distance(pole_), d2}, {0, square<double>(of_.z[pole_]), 0}, w_};
    const bool left = origin_ == j_;
    if (fixed_) {
      f.rest = rest_ - d0 * psi - d2 * phi;
      f.z[0] = square(d0) * psi;
      f.z[2] = square(d2) * phi;
    } else if (left) {
      const double own = square(of_.z[before] / d0);
      f.rest = rest_ - d2 * (psi + phi) - (of_.d[before] - of_.d[after]) * own;
      f.z[0] = square<double>(of_.z[before]);
      f.z[2] = square(d2) * ((psi - own) + phi);
    } else {
      const double own = square(of_.z[after] / d2);
      f.rest = rest_ - d0 * (psi + phi) - (of_.d[after] - of_.d[before]) * own;
      f.z[0] = square(d0) * (psi + (phi - own));
      f.z[2] = square<double>(of_.z[after]);
    }
    return static_cast<R>(solve_three_poles(f, left, step == 0));
  }

  const secular_equation<R>& of_;
  index_t j_;
  index_t origin_ = 0;
  index_t pole_ = 0;  // the pole that is kept out of psi and phi
  R tau_ = 0, low_ = 0, high_ = 0;
  R psi_ = 0, psi_slope_ = 0, phi_ = 0, phi_slope_ = 0;  // sums over the poles on either side
  R rest_ = 0, w_ = 0, slope_ = 0;  // the function without and with the pole, its derivative
  bool has_three_ = false;
  bool fixed_ = false;
};

}  // namespace

template <class R>
R secular_root(const secular_equation<R>& equation, index_t j, R* delta) noexcept {
  if (equation.n == 1) {
    const R shift = equation.rho * square(equation.z[0]);
    delta[0] = -shift;
    return equation.d[0] + shift;
  }
  return root_search<R>(equation, j).find(delta);
}

#define CREEK_INSTANTIATE(letter, R) \
  template R secular_root<R>(const secular_equation<R>&, index_t, R*) noexcept;
CREEK_FOR_EACH_REAL(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
