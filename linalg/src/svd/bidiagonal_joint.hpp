// SPDX-License-Identifier: Apache-2.0
// The step that joins the singular values of two halves of a bidiagonal matrix: which of them need
// no root of a secular equation, because their elements of z are tiny or they nearly agree with
// others. Source: [Gu 1995b].
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <creek/linalg/matrix.hpp>

#include "singular_secular_equation.hpp"

namespace creek::linalg::detail {

/// The half that a column of vectors has nonzero elements in. Sorted like this, the columns of each
/// half are adjacent.
enum class part_of_column : char { upper, cut, both, lower };

/// The step that joins two halves: which values are deflated, and the secular equation of the
/// others. Values are named by the column of their vectors in the whole.
template <class R>
class bidiagonal_joint {
 public:
  /// z holds the first row of the reduced matrix, values[] the others' diagonal; both by columns,
  /// where those of the cut row's column are ignored but z. `sorted` are the other columns in
  /// increasing order of their values. Calls rotate(i, j, c, s) for pairs of columns of the
  /// vectors.
  template <class Rotate>
  bidiagonal_joint(index_t cut, R size, const std::vector<index_t>& sorted, const R* values, R* z,
                   const Rotate& rotate)
      : part_(sorted.size() + 1) {
    const R tolerance = 8 * (std::numeric_limits<R>::epsilon() / 2) * size;
    const auto part = [this](index_t c) -> part_of_column& { return part_[at(c)]; };
    for (const index_t c : sorted)
      part(c) = c < cut ? part_of_column::upper : part_of_column::lower;
    part(cut) = part_of_column::cut;
    kept_.push_back(cut);
    std::vector<double> d{0.0}, weights{std::abs(z[cut]) <= tolerance ? tolerance : z[cut]};
    index_t candidate = -1;
    const auto keep = [&] {
      if (candidate < 0) return;
      kept_.push_back(candidate);
      d.push_back(values[candidate]);
      weights.push_back(z[candidate]);
    };
    for (const index_t c : sorted) {
      if (std::abs(z[c]) <= tolerance) {
        deflated_.push_back(c);
        continue;
      }
      if (candidate >= 0 && std::abs(values[c] - values[candidate]) <= tolerance) {
        const R length = std::hypot(z[c], z[candidate]);
        rotate(candidate, c, z[c] / length, -z[candidate] / length);
        z[c] = length;
        z[candidate] = 0;
        if (part(c) != part(candidate)) part(c) = part_of_column::both;
        deflated_.push_back(candidate);
      } else {
        keep();
      }
      candidate = c;
    }
    keep();
    if (d.size() > 1) d[1] = std::max<double>(d[1], tolerance / 2);
    order_.resize(kept_.size());
    std::iota(order_.begin(), order_.end(), index_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](index_t a, index_t b) { return part(kept_[at(a)]) < part(kept_[at(b)]); });
    for (const index_t c : kept_) ++counts_[static_cast<std::size_t>(part(c))];
    equation_.emplace(std::move(d), std::move(weights));
    equation_->arrange(order_);
  }

  index_t kept() const noexcept { return static_cast<index_t>(kept_.size()); }
  const std::vector<index_t>& deflated() const noexcept { return deflated_; }
  const singular_secular_equation& equation() const noexcept { return *equation_; }
  /// Returns the column of the r-th kept value, in the order of the parts of the columns.
  index_t column(index_t r) const noexcept { return kept_[at(order_[at(r)])]; }
  index_t count(part_of_column part) const noexcept {
    return counts_[static_cast<std::size_t>(part)];
  }

 private:
  static std::size_t at(index_t i) noexcept { return static_cast<std::size_t>(i); }

  std::vector<part_of_column> part_;
  std::vector<index_t> kept_, deflated_, order_;
  index_t counts_[4] = {};
  std::optional<singular_secular_equation> equation_;
};

}  // namespace creek::linalg::detail
