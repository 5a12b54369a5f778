// SPDX-License-Identifier: Apache-2.0
// Balancing of a general matrix before its eigenvalues are computed, and its inverse for vectors.
#include <creek/linalg/schur.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "checks.hpp"

namespace creek::linalg {
namespace detail {
namespace {

/// Largest magnitude and sum of squares of a row or column.
template <class R>
struct balance_size {
  R largest = 0;
  R squares = 0;

  template <class T>
  void add(T x) noexcept {
    largest = std::max(largest, std::abs(x));
    squares += std::norm(x);
  }
};

/// Scales and permutes one matrix.
template <scalar T>
class balancer {
  using R = real<T>;

 public:
  balancer(matrix_view<T> A, R* scale) : A_(A), scale_(scale), end_(A.rows()) {}

  active_rows active() const noexcept { return {first_, end_}; }

  void permute() noexcept {
    while (isolate_row()) {
      if (end_ == 1) return;
      --end_;
    }
    while (isolate_column()) ++first_;
  }

  /// Returns false if a NaN was met.
  bool scale() noexcept {
    bool is_changed = true;
    while (is_changed) {
      is_changed = false;
      for (index_t i = first_; i < end_; ++i) {
        const outcome done = scale_row(i);
        if (done == outcome::not_a_number) return false;
        is_changed |= done == outcome::scaled;
      }
    }
    return true;
  }

 private:
  enum class outcome { kept, scaled, not_a_number };
  static constexpr R radix = 2;

  /// Exchanges row and column i with row and column `to`, and notes it.
  void exchange(index_t i, index_t to) noexcept {
    scale_[to] = static_cast<R>(i + 1);
    if (i == to) return;
    std::swap_ranges(A_.column(i), A_.column(i) + end_, A_.column(to));
    for (index_t j = first_; j < A_.cols(); ++j) std::swap(A_(i, j), A_(to, j));
  }

  /// Moves a row that is zero but for its diagonal to the end of the active ones, if there is one.
  bool isolate_row() noexcept {
    for (index_t j = end_ - 1; j >= 0; --j) {
      index_t i = 0;
      while (i < end_ && (i == j || A_(j, i) == T{})) ++i;
      if (i < end_) continue;
      exchange(j, end_ - 1);
      return true;
    }
    return false;
  }
  bool isolate_column() noexcept {
    for (index_t j = first_; j < end_; ++j) {
      index_t i = first_;
      while (i < end_ && (i == j || A_(i, j) == T{})) ++i;
      if (i < end_) continue;
      exchange(j, first_);
      return true;
    }
    return false;
  }

  /// Returns the norm of row i (column i if `down`) of the active block.
  R norm(const balance_size<R>& plain, index_t i, bool down) const noexcept {
    constexpr R small = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    if (plain.squares > small && plain.squares <= std::numeric_limits<R>::max()) {
      return std::sqrt(plain.squares);
    }
    R most = 0;
    for (index_t j = first_; j < end_; ++j) {
      const R x = std::abs(down ? A_(j, i) : A_(i, j));
      if (std::isnan(x)) return x;
      most = std::max(most, x);
    }
    if (most == 0 || std::isinf(most)) return most;
    R sum = 0;
    for (index_t j = first_; j < end_; ++j) sum += std::norm((down ? A_(j, i) : A_(i, j)) / most);
    return most * std::sqrt(sum);
  }

  balance_size<R> column_size(index_t i) const noexcept {
    balance_size<R> size;
    for (index_t j = first_; j < end_; ++j) size.add(A_(j, i));
    for (index_t j = 0; j < first_; ++j) size.largest = std::max(size.largest, std::abs(A_(j, i)));
    return size;
  }
  balance_size<R> row_size(index_t i) const noexcept {
    balance_size<R> size;
    for (index_t j = first_; j < end_; ++j) size.add(A_(i, j));
    for (index_t j = end_; j < A_.cols(); ++j) {
      size.largest = std::max(size.largest, std::abs(A_(i, j)));
    }
    return size;
  }

  outcome scale_row(index_t i) noexcept {
    constexpr R smallest = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
    constexpr R largest = 1 / smallest, small = smallest * radix, large = 1 / small;
    const balance_size<R> column = column_size(i), row = row_size(i);
    R c = norm(column, i, true), r = norm(row, i, false), ca = column.largest, ra = row.largest;
    if (c == 0 || r == 0) return outcome::kept;
    R g = r / radix, f = 1;
    const R before = c + r;
    // Written so that a NaN does not end the loop.
    while (!(c >= g || std::max({f, c, ca}) >= large || std::min({r, g, ra}) <= small)) {
      if (std::isnan(c + f + ca + r + g + ra)) return outcome::not_a_number;
      f *= radix;
      c *= radix;
      ca *= radix;
      r /= radix;
      g /= radix;
      ra /= radix;
    }
    g = c / radix;
    while (!(g < r || std::max(r, ra) >= large || std::min({f, c, g, ca}) <= small)) {
      f /= radix;
      c /= radix;
      g /= radix;
      ca /= radix;
      r *= radix;
      ra *= radix;
    }
    if (c + r >= R(0.95) * before) return outcome::kept;
    if (f < 1 && scale_[i] < 1 && f * scale_[i] <= smallest) return outcome::kept;
    if (f > 1 && scale_[i] > 1 && scale_[i] >= largest / f) return outcome::kept;
    scale_[i] *= f;
    for (index_t j = first_; j < A_.cols(); ++j) A_(i, j) *= 1 / f;
    for (index_t j = 0; j < end_; ++j) A_(j, i) *= f;
    return outcome::scaled;
  }

  matrix_view<T> A_;
  R* scale_;
  index_t first_ = 0;
  index_t end_;
};

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
balanced_rows gebal(balancing how, matrix_view<T> A, std::span<real<T>> scale) {
  const index_t n = A.rows();
  require(A.cols() == n && static_cast<index_t>(scale.size()) >= n, "gebal",
          "A must be square, and scale of its order");
  if (n == 0) return {};
  balancer<T> work(A, scale.data());
  if (how == balancing::permute || how == balancing::both) work.permute();
  const active_rows active = work.active();
  std::fill(scale.begin() + active.first, scale.begin() + active.end, real<T>{1});
  const bool scales = how == balancing::scale || how == balancing::both;
  return {active, !scales || work.scale()};
}

template <scalar T>
void gebak(balancing how, side which, active_rows active, std::span<const real<T>> scale,
           matrix_view<T> V) {
  const index_t n = V.rows();
  require(static_cast<index_t>(scale.size()) >= n && active.first >= 0 && active.end <= n, "gebak",
          "scale must have an element per row");
  const bool scales =
      (how == balancing::scale || how == balancing::both) && active.end - active.first > 1;
  const bool permutes = how == balancing::permute || how == balancing::both;
  for (index_t j = 0; j < V.cols(); ++j) {
    T* const column = V.column(j);
    const auto exchange = [&](index_t i) {
      std::swap(column[i], column[static_cast<index_t>(scale[static_cast<std::size_t>(i)]) - 1]);
    };
    if (scales) {
      for (index_t i = active.first; i < active.end; ++i) {
        const real<T> factor = scale[static_cast<std::size_t>(i)];
        column[i] *= which == side::right ? factor : 1 / factor;
      }
    }
    if (permutes) {
      for (index_t i = active.first - 1; i >= 0; --i) exchange(i);
      for (index_t i = active.end; i < n; ++i) exchange(i);
    }
  }
}

#define CREEK_INSTANTIATE(letter, T)                                              \
  template balanced_rows gebal<T>(balancing, matrix_view<T>, std::span<real<T>>); \
  template void gebak<T>(balancing, side, active_rows, std::span<const real<T>>, matrix_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
