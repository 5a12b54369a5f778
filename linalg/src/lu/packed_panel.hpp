// SPDX-License-Identifier: Apache-2.0
// Update of blocks of columns by a factored panel of LU with partial pivoting.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include <creek/linalg/matrix.hpp>

#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"
#include "kernels/row_exchanges.hpp"
#include "kernels/triangular.hpp"

namespace creek::linalg::detail {

/// Factored panel, ready for updates: L11 and -L21 packed, and the row exchanges.
template <scalar T>
class packed_panel {
 public:
  /// `panel` is factored, (m - first) x n; `pivots` count rows of the m x n matrix whose row
  /// `first` is the panel's first.
  packed_panel(const_view<T> panel, const index_t* pivots, index_t first = 0)
      : order_(std::min(panel.rows(), panel.cols())),
        below_(panel.rows() - order_),
        triangle_(packed_triangle_size<T>(order_)),
        left_(std::max<index_t>(1, packed_left_size<T>(below_, order_))),
        rows_(pivots, order_, panel.rows(), first) {
    const strided<T> l{panel.data(), 1, panel.leading()};
    pack_triangle(l, diagonal::unit, order_, triangle_.data());
    const index_t step = blocking<T>::rows(order_);
    for (index_t i = 0; i < below_; i += step) {
      pack_left(l.block(order_ + i, 0), std::min(step, below_ - i), order_,
                left_.data() + packed_left_size<T>(i, order_));
    }
    // Negated once here instead of negating the solved rows in every update.
    const index_t count = packed_left_size<T>(below_, order_);
    std::transform(left_.data(), left_.data() + count, left_.data(), std::negate<>{});
  }

  /// Exchanges the rows of C, then C1 = L11^-1 C1 and C2 -= L21 C1.
  void update(matrix_view<T> C) const {
    const index_t width = micro_kernels_of<real<T>>().cols;
    const index_t depth = solve_depth<T>(order_);
    const pack_array<real<T>> right(packed_right_size<T>(depth, C.cols()));
    std::vector<T> scratch(static_cast<std::size_t>(rows_.scratch()));
    for (index_t j = 0; j < C.cols(); j += width) {
      real<T>* const strip = right.data() + packed_right_size<T>(depth, j);
      solve_strip(C, j, std::min(width, C.cols() - j), strip, depth, scratch.data());
    }
    if (below_ == 0) return;
    const index_t step = blocking<T>::rows(order_);
    for (index_t i = 0; i < below_; i += step) {
      multiply_packed(std::min(step, below_ - i), C.cols(), order_,
                      left_.data() + packed_left_size<T>(i, order_), right.data(),
                      &C(order_ + i, 0), C.leading());
    }
  }

 private:
  /// Exchanges rows and does C1 = L11^-1 C1 for columns [first, first + cols) of C, one strip;
  /// stores the result in C and in `strip`.
  void solve_strip(matrix_view<T> C, index_t first, index_t cols, real<T>* strip, index_t depth,
                   T* scratch) const {
    const index_t width = micro_kernels_of<real<T>>().cols;
    if (cols < width || depth > order_) {
      std::fill_n(strip, packed_right_size<T>(depth, width), real<T>{});
    }
    for (index_t j = 0; j < cols; ++j) {
      const index_t next = std::min(first + j + 1, C.cols() - 1);
      rows_.begin(C.column(first + j), C.column(next), scratch);
      for (index_t i = 0; i < order_; ++i) put(strip, i, j, width, rows_.row(i, scratch));
    }
    solve_packed<T>(triangle_.data(), order_, strip, cols);
    unpack_right(strip, order_, cols, C.column(first), 1, C.leading());
  }

  static void put(real<T>* strip, index_t i, index_t j, index_t width, T value) noexcept {
    if constexpr (is_complex<T>) {
      strip[2 * i * width + j] = value.real();
      strip[(2 * i + 1) * width + j] = value.imag();
    } else {
      strip[i * width + j] = value;
    }
  }

  index_t order_;
  index_t below_;
  pack_array<real<T>> triangle_;
  pack_array<real<T>> left_;
  row_exchanges rows_;
};

}  // namespace creek::linalg::detail
