// SPDX-License-Identifier: Apache-2.0
// The secular equation that joins two halves of a bidiagonal matrix, and its vectors.
#pragma once

#include <cstddef>
#include <vector>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// The matrix whose first row is z and whose rows below are those of diag(0, d[1], ...): d
/// increases from d[0] = 0, no two d[j] are close, no z[j] is tiny. Its singular values are the
/// roots of f(s) = 1 + sum z[j]^2 / ((d[j] - s) (d[j] + s)), one between every two d[j]. Computes
/// in double precision, as the slopes of f exceed what a float can hold. Source: [Gu 1995b].
class singular_secular_equation {
 public:
  /// Finds the roots and recomputes z so that they are exact. Keeps d and z.
  singular_secular_equation(std::vector<double> d, std::vector<double> z);

  index_t order() const noexcept { return static_cast<index_t>(d_.size()); }
  double value(index_t j) const noexcept { return pole_[at(j)] + offset_[at(j)]; }

  /// Sets the order of the elements of vectors: the r-th one is that of order[r].
  void arrange(const std::vector<index_t>& order);
  /// Stores the right singular vector j, of length 1, in v.
  void right_vector(index_t j, double* v) const noexcept;
  /// Stores the left singular vector j, of length 1, in u.
  void left_vector(index_t j, double* u) const noexcept;

 private:
  static std::size_t at(index_t j) noexcept { return static_cast<std::size_t>(j); }
  void find_root(index_t i);
  void recompute_weight(index_t i);
  /// x /= sqrt(square).
  void scale(double* x, double square) const noexcept;

  std::vector<double> d_, z_;
  std::vector<double> arranged_d_, arranged_z_;
  std::size_t first_ = 0;       ///< where arrange() put the element of d[0]
  double scale_ = 1;            ///< 1 / |z|^2
  std::vector<double> square_;  ///< (z[j] / |z|)^2
  std::vector<double> pole_;  ///< root j is pole_[j] + offset_[j], where the pole is the nearer d[]
  std::vector<double> offset_;
};

}  // namespace creek::linalg::detail
