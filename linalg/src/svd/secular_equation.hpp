// SPDX-License-Identifier: Apache-2.0
// The secular equation that joins two halves of a bidiagonal matrix, and its vectors.
#pragma once

#include <utility>
#include <vector>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// The matrix whose first row is z and whose rows below are those of diag(0, d[1], ...): d
/// increases from d[0] = 0, no two d[j] are close, no z[j] is tiny. Its singular values are the
/// roots of f(s) = 1 + sum z[j]^2 / ((d[j] - s) (d[j] + s)), one between every two d[j]. Computes
/// in double precision, as the slopes of f exceed what a float can hold. Source: [Gu 1995b].
class secular_equation {
 public:
  /// Finds the roots and recomputes z so that they are exact. Keeps d and z.
  secular_equation(std::vector<double> d, std::vector<double> z);

  index_t order() const noexcept { return static_cast<index_t>(d_.size()); }
  double value(index_t j) const noexcept { return pole_[at(j)] + offset_[at(j)]; }

  /// Stores the right singular vector j, of length 1, in v, or the left one in u: element r is that
  /// of index order[r].
  template <class R>
  void right_vector(index_t j, const index_t* order, R* v) const noexcept;
  template <class R>
  void left_vector(index_t j, const index_t* order, R* u) const noexcept;

  /// Returns the products of the right singular vector j with x and y.
  template <class R>
  std::pair<R, R> right_products(index_t j, const index_t* order, const R* x,
                                 const R* y) const noexcept;

 private:
  static std::size_t at(index_t j) noexcept { return static_cast<std::size_t>(j); }
  void find_root(index_t i);
  void recompute_weight(index_t i);
  /// Returns element p of the right singular vector j, before it is scaled.
  double weight(index_t p, index_t j) const noexcept;

  std::vector<double> d_, z_;
  double scale_ = 1;            ///< 1 / |z|^2
  std::vector<double> square_;  ///< (z[j] / |z|)^2
  std::vector<double> pole_;  ///< root j is pole_[j] + offset_[j], where the pole is the nearer d[]
  std::vector<double> offset_;
};

}  // namespace creek::linalg::detail
