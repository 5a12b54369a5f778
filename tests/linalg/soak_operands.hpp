// SPDX-License-Identifier: Apache-2.0
// Operands of random calls.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <creek/linalg/generate.hpp>
#include <creek/linalg/matrix.hpp>

#include "soak_case.hpp"

namespace creek::linalg::testing {

/// A matrix, usually with gaps between its columns that hold marks.
template <scalar T>
class padded {
 public:
  padded(dice& d, index_t rows, index_t cols)
      : rows_(rows),
        cols_(cols),
        leading_(std::max<index_t>(1, rows) + (d.one_in(3) ? 0 : d.below(20))),
        memory_(static_cast<std::size_t>(leading_ * cols), mark) {}

  matrix_view<T> view() { return {memory_.data(), rows_, cols_, leading_}; }
  const_view<T> view() const { return {memory_.data(), rows_, cols_, leading_}; }
  matrix<T> copy() const { return matrix<T>(view()); }
  index_t leading() const { return leading_; }
  /// Returns whether the gaps between the columns are unchanged.
  bool is_whole() const {
    for (index_t j = 0; j < cols_; ++j) {
      for (index_t i = rows_; i < leading_; ++i) {
        if (memory_[static_cast<std::size_t>(i + j * leading_)] != mark) return false;
      }
    }
    return true;
  }

 private:
  static constexpr T mark{real<T>(1234.5)};
  index_t rows_, cols_, leading_;
  std::vector<T> memory_;
};

template <scalar T>
T draw(dice& d) {
  if constexpr (is_complex<T>) {
    const auto re = static_cast<real<T>>(d.uniform());
    return {re, static_cast<real<T>>(d.uniform())};
  } else {
    return static_cast<T>(d.uniform());
  }
}

/// Fills `a` with one of several kinds: plain, graded by rows or columns, many zeros and equals.
template <scalar T>
void fill(dice& d, matrix_view<T> a, bool plain = false) {
  const index_t kind = plain ? 0 : d.below(6);
  for (index_t j = 0; j < a.cols(); ++j) {
    for (index_t i = 0; i < a.rows(); ++i) {
      const T drawn = draw<T>(d);
      const int grade = static_cast<int>(kind == 1 ? i % 17 : kind == 2 ? j % 17 : 0);
      const T graded = drawn * static_cast<real<T>>(std::ldexp(1, -grade));
      a(i, j) = kind == 3 ? T{static_cast<real<T>>(std::round(2 * std::real(drawn)))} : graded;
    }
  }
}

template <scalar T>
void fill_definite(dice& d, matrix_view<T> a) {
  matrix_generator<T>({.kind = matrix_kind::positive_definite, .seed = d.seed()}, a.rows(),
                      a.cols())
      .fill(a, 0, 0);
}

}  // namespace creek::linalg::testing
