// SPDX-License-Identifier: Apache-2.0
#include "singular_secular_equation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "blas3/workers.hpp"
#include "svd_kernels.hpp"

namespace creek::linalg::detail {
namespace {
namespace secular {

/// Partial sums, which the compiler can keep in a vector.
constexpr index_t lanes = 8;

/// A sum of z^2 / ((d - s) (d + s)) and its derivative by s^2.
struct pole_sum {
  double value = 0;
  double slope = 0;

  /// Sums over n poles for s = pole + offset.
  static pole_sum of(index_t n, const double* d, const double* square, double pole,
                     double offset) noexcept {
    pole_sum sum;
    secular_kernels_here().add(n, d, square, pole, offset, &sum.value, &sum.slope);
    return sum;
  }
};

/// Returns a root of c x^2 - a x + b = 0 without cancellation: (a - sqrt(a^2 - 4 b c)) / (2 c), or
/// the other one.
double root_of(double a, double b, double c, bool other) noexcept {
  const double distance = std::sqrt(std::abs(a * a - 4 * b * c)),
               root = other ? -distance : distance;
  const bool cancels = (a > 0) == (root > 0);
  return cancels ? 2 * b / (a + root) : (a - root) / (2 * c);
}

/// Product over j of |s_j^2 - x^2| / |d[j]^2 - x^2|, where s_j = pole[j] + offset[j].
double ratio_product(index_t n, double x, const double* pole, const double* offset,
                     const double* d) noexcept {
  double product[lanes];
  std::fill_n(product, lanes, double{1});
  index_t j = 0;
  const auto ratio = [&](index_t k) {
    return (((x - pole[k]) - offset[k]) * ((x + pole[k]) + offset[k])) / ((x - d[k]) * (x + d[k]));
  };
  for (; j + lanes <= n; j += lanes) {
    for (index_t k = 0; k < lanes; ++k) product[k] *= ratio(j + k);
  }
  for (; j < n; ++j) product[0] *= ratio(j);
  for (index_t k = 1; k < lanes; ++k) product[0] *= product[k];
  return product[0];
}

/// Runs body(i) for i in [0, n), on all workers if each takes about n operations.
template <class Body>
void for_each_row(index_t n, const Body& body) {
  constexpr index_t grain = 32;
  if (n <= 2 * grain) {
    for (index_t i = 0; i < n; ++i) body(i);
    return;
  }
  all_workers::for_each((n + grain - 1) / grain, [&](index_t piece) {
    const index_t end = std::min(n, (piece + 1) * grain);
    for (index_t i = piece * grain; i < end; ++i) body(i);
  });
}

}  // namespace secular
}  // namespace

singular_secular_equation::singular_secular_equation(std::vector<double> d, std::vector<double> z)
    : d_(std::move(d)), z_(std::move(z)), square_(d_.size()), pole_(d_.size()), offset_(d_.size()) {
  double sum = 0;
  for (const double each : z_) sum += each * each;
  scale_ = 1 / sum;
  for (std::size_t j = 0; j < z_.size(); ++j) square_[j] = z_[j] * z_[j] * scale_;
  secular::for_each_row(order(), [this](index_t i) { find_root(i); });
  secular::for_each_row(order(), [this](index_t i) { recompute_weight(i); });
}

/// Interpolates the sums over the poles on either side by one pole each, where their slopes agree
/// ("the middle way"), within a bracket that is halved if it shrinks too slowly.
/// Source: [Li 1994].
void singular_secular_equation::find_root(index_t i) {
  using secular::pole_sum;
  constexpr double eps = std::numeric_limits<double>::epsilon() / 2;
  const index_t n = order();
  const double* const d = d_.data();
  const double* const square = square_.data();
  if (n == 1) {
    pole_[0] = d[0];
    offset_[0] = std::abs(z_[0]);
    return;
  }
  // The last root has a pole on its left only; the one before serves as the other one.
  const bool is_last = i == n - 1;
  const index_t a = is_last ? n - 2 : i, b = a + 1;
  const double gap = (d[b] - d[a]) * (d[b] + d[a]);
  double low, high, offset, pole = d[i];
  if (is_last) {
    const double reach = (1 / scale_) / (pole + std::sqrt(pole * pole + 1 / scale_));
    low = 0;
    high = reach;
    offset = reach / 2;
  } else {
    const double half = (gap / 2) / (d[a] + std::sqrt(d[a] * d[a] + gap / 2));
    const auto left = pole_sum::of(a, d, square, d[a], half);
    const auto right = pole_sum::of(n - b - 1, d + b + 1, square + b + 1, d[a], half);
    const double rest = scale_ + left.value + right.value;
    const auto near = pole_sum::of(2, d + a, square + a, d[a], half);
    if (rest + near.value > 0) {
      low = 0;
      high = half;
      const double x =
          secular::root_of(rest * gap + square[a] + square[b], square[a] * gap, rest, false);
      offset = x / (pole + std::sqrt(pole * pole + x));
    } else {
      pole = d[b];
      low = -((d[b] - d[a]) - half);
      high = 0;
      const double x =
          -secular::root_of(square[a] + square[b] - rest * gap, square[b] * gap, -rest, false);
      offset = x / (pole + std::sqrt(std::abs(pole * pole + x)));
    }
    if (!(offset > low && offset < high)) offset = low + (high - low) / 2;
  }
  double width = high - low;
  constexpr int max_steps = 200;  // halving alone needs no more
  for (int step = 0; step < max_steps; ++step) {
    const auto psi = pole_sum::of(a + 1, d, square, pole, offset);
    const auto phi = pole_sum::of(n - b, d + b, square + b, pole, offset);
    const double w = scale_ + psi.value + phi.value;
    const double error = 16 * (std::abs(psi.value) + std::abs(phi.value)) + 2 * scale_;
    if (std::abs(w) <= eps * error) break;
    (w < 0 ? low : high) = offset;
    const double left = ((d[a] - pole) - offset) * ((d[a] + pole) + offset);
    const double right = ((d[b] - pole) - offset) * ((d[b] + pole) + offset);
    const double slope = psi.slope + phi.slope;
    const double s = pole + offset;
    // Between its poles the root is that next to x = 0; behind both it is the other one.
    double x = secular::root_of((left + right) * w - left * right * slope, left * right * w,
                                w - left * psi.slope - right * phi.slope, is_last);
    if (!(w * x < 0)) x = -w / slope;
    double next = offset + x / (s + std::sqrt(std::abs(s * s + x)));
    const bool halves = step % 3 == 2 && high - low > width / 4;
    if (step % 3 == 2) width = high - low;
    if (halves || !(next > low && next < high)) {
      next = low + (high - low) / 2;
      // Far from the pole in size: halve the exponent.
      if (low > 0 && high > 16 * low) next = std::sqrt(low) * std::sqrt(high);
      if (high < 0 && low < 16 * high) next = -std::sqrt(-low) * std::sqrt(-high);
    }
    const double change = std::abs(next - offset);
    if (next == low || next == high) break;
    offset = next;
    if (change <= 2 * eps * std::abs(offset)) break;
  }
  pole_[at(i)] = pole;
  offset_[at(i)] = offset;
}

void singular_secular_equation::recompute_weight(index_t i) {
  const index_t n = order(), last = n - 1;
  const double x = d_[at(i)];
  const double* const d = d_.data();
  const double before = secular::ratio_product(i, x, pole_.data(), offset_.data(), d);
  const double behind =
      secular::ratio_product(last - i, x, pole_.data() + i, offset_.data() + i, d + i + 1);
  const double end =
      ((x - pole_[at(last)]) - offset_[at(last)]) * ((x + pole_[at(last)]) + offset_[at(last)]);
  z_[at(i)] = std::copysign(std::sqrt(std::abs(before * behind * end)), z_[at(i)]);
}

void singular_secular_equation::arrange(const std::vector<index_t>& order_of) {
  arranged_d_.resize(d_.size());
  arranged_z_.resize(d_.size());
  for (std::size_t r = 0; r < d_.size(); ++r) {
    const std::size_t p = at(order_of[r]);
    arranged_d_[r] = d_[p];
    arranged_z_[r] = z_[p];
    if (p == 0) first_ = r;
  }
}

void singular_secular_equation::right_vector(index_t j, double* v) const noexcept {
  const double square = secular_kernels_here().right_vector(
      order(), arranged_d_.data(), arranged_z_.data(), pole_[at(j)], offset_[at(j)], v);
  scale(v, square);
}

void singular_secular_equation::left_vector(index_t j, double* u) const noexcept {
  const double square = secular_kernels_here().left_vector(
      order(), arranged_d_.data(), arranged_z_.data(), pole_[at(j)], offset_[at(j)], u);
  u[first_] = -1;
  scale(u, square + 1);
}

void singular_secular_equation::scale(double* x, double square) const noexcept {
  const double factor = 1 / std::sqrt(square);
  for (std::size_t r = 0; r < d_.size(); ++r) x[r] *= factor;
}

}  // namespace creek::linalg::detail
