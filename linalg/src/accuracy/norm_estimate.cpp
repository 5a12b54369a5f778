// SPDX-License-Identifier: Apache-2.0
#include "norm_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "counter_hash.hpp"
#include "magnitudes.hpp"

namespace creek::linalg::detail {
namespace {

constexpr index_t columns_tried = 4;
constexpr int most_steps = 5;

/// Largest one-norm of a column and that column's index; NaN if a norm is NaN.
struct column_sum {
  double value = 0;
  index_t column = 0;
};
template <scalar T>
column_sum largest_sum(const_view<T> X) {
  column_sum found;
  for (index_t j = 0; j < X.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < X.rows(); ++i) sum += magnitude(X(i, j));
    const double larger = greater(found.value, sum);
    if (larger != found.value) found = {larger, j};
  }
  return found;
}

/// Returns whether two vectors of +1 and -1 are parallel.
template <scalar T>
bool parallel(const T* x, const T* y, index_t n) {
  const T first = x[0] * y[0];
  for (index_t i = 1; i < n; ++i) {
    if (x[i] * y[i] != first) return false;
  }
  return true;
}
template <scalar T>
bool parallel_to_one(const T* x, const_view<T> among) {
  for (index_t j = 0; j < among.cols(); ++j) {
    if (parallel(x, among.column(j), among.rows())) return true;
  }
  return false;
}

/// State of the search. The columns of X have norm 1: signs at first, later the unit vectors for
/// which A^H times the signs of A X is largest.
template <scalar T>
class norm_search {
 public:
  norm_search(index_t n, const linear_map<T>& A)
      : n_(n), A_(A), X_(n, columns_tried), signs_(n, columns_tried), old_signs_(n, 0) {}

  double run() {
    start();
    double estimate = 0;
    for (int step = 1;; ++step) {
      const column_sum found = largest_of_product();
      if (!std::isfinite(found.value)) return found.value;
      if (step > 1 && found.value <= estimate) return estimate;
      estimate = found.value;
      if (step > most_steps || !take_signs()) return estimate;
      const std::vector<double> rows = promises();
      const double most = *std::max_element(rows.begin(), rows.end());
      if (!std::isfinite(most)) return most;
      const index_t here = step > 1 ? units_[static_cast<std::size_t>(found.column)] : -1;
      if (here >= 0 && rows[static_cast<std::size_t>(here)] == most) return estimate;
      if (!choose_units(rows)) return estimate;
    }
  }

 private:
  matrix_view<T> used(matrix<T>& of) const { return of.view().columns(0, width_); }

  void start() {
    for (index_t j = 0; j < columns_tried; ++j) {
      T* const column = signs_.view().column(j);
      std::fill_n(column, n_, T{1});
      if (j > 0) redraw(j);
    }
    for (index_t j = 0; j < columns_tried; ++j) {
      for (index_t i = 0; i < n_; ++i) X_(i, j) = signs_(i, j) / static_cast<real<T>>(n_);
    }
  }

  /// Draws column j of signs until it is parallel to no earlier one and to none of the last step.
  void redraw(index_t j) {
    T* const column = signs_.view().column(j);
    do {
      for (index_t i = 0; i < n_; ++i) column[i] = drawn_.bits(next_++) >> 63 ? T{1} : T{-1};
    } while (is_like_another(j));
  }
  bool is_like_another(index_t j) {
    const const_view<T> signs = signs_.view();
    return parallel_to_one<T>(signs.column(j), signs.columns(0, j)) ||
           parallel_to_one<T>(signs.column(j), old_signs_.view());
  }

  column_sum largest_of_product() {
    A_(op::none, used(X_));
    return largest_sum<T>(used(X_));
  }

  /// Sets the signs of A X; returns false if all are parallel to signs of the last step.
  bool take_signs() {
    // The initial signs were random, so there are no old ones.
    old_signs_ = units_.empty() ? matrix<T>(n_, 0) : matrix<T>(const_view<T>(used(signs_)));
    for (index_t j = 0; j < width_; ++j) {
      for (index_t i = 0; i < n_; ++i) {
        const wide<T> value = widened(X_(i, j));
        signs_(i, j) = value == wide<T>{} ? T{1} : static_cast<T>(value / std::abs(value));
      }
    }
    if constexpr (is_complex<T>) return true;  // complex signs are hardly ever parallel
    bool is_new = false;
    for (index_t j = 0; j < width_; ++j) {
      is_new = is_new || !parallel_to_one<T>(&signs_(0, j), old_signs_.view());
    }
    for (index_t j = 0; is_new && j < width_; ++j) {
      if (is_like_another(j)) redraw(j);
    }
    return is_new;
  }

  /// Returns the largest magnitude in each row of A^H times the signs.
  std::vector<double> promises() {
    copy<T>(used(signs_), used(X_));
    A_(op::conjugate_transpose, used(X_));
    std::vector<double> rows(static_cast<std::size_t>(n_));
    for (index_t j = 0; j < width_; ++j) {
      for (index_t i = 0; i < n_; ++i) {
        double& row = rows[static_cast<std::size_t>(i)];
        row = greater(row, std::abs(widened(X_(i, j))));
        if (!std::isfinite(row)) return {row};
      }
    }
    return rows;
  }

  /// Sets X to the unit vectors of the rows with the largest values, except those already tried;
  /// returns false if all of the best were tried.
  bool choose_units(const std::vector<double>& rows) {
    std::vector<index_t> order(rows.size());
    std::iota(order.begin(), order.end(), index_t{0});
    std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) {
      return rows[static_cast<std::size_t>(a)] > rows[static_cast<std::size_t>(b)];
    });
    tried_.resize(rows.size());
    const auto was_tried = [&](index_t i) { return tried_[static_cast<std::size_t>(i)]; };
    if (std::all_of(order.begin(), order.begin() + columns_tried, was_tried)) return false;
    std::erase_if(order, was_tried);
    order.resize(std::min<std::size_t>(order.size(), columns_tried));
    units_ = std::move(order);
    width_ = static_cast<index_t>(units_.size());
    for (index_t j = 0; j < width_; ++j) {
      const index_t unit = units_[static_cast<std::size_t>(j)];
      tried_[static_cast<std::size_t>(unit)] = true;
      std::fill_n(&X_(0, j), n_, T{});
      X_(unit, j) = T{1};
    }
    return true;
  }

  index_t n_;
  const linear_map<T>& A_;
  matrix<T> X_;
  matrix<T> signs_;
  matrix<T> old_signs_;
  index_t width_ = columns_tried;
  std::vector<index_t> units_;  // indices of the unit vectors in X
  std::vector<bool> tried_;
  counter_hash drawn_{1, 0};
  std::uint64_t next_ = 0;
};

}  // namespace

template <scalar T>
double estimate_one_norm(index_t n, const linear_map<T>& A) {
  if (n > columns_tried) return norm_search<T>(n, A).run();
  matrix<T> whole(n, n);
  for (index_t i = 0; i < n; ++i) whole(i, i) = T{1};
  if (n > 0) A(op::none, whole.view());
  return largest_sum<T>(whole.view()).value;
}

#define CREEK_INSTANTIATE(letter, T) \
  template double estimate_one_norm<T>(index_t, const linear_map<T>&);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
