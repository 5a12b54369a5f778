// SPDX-License-Identifier: Apache-2.0
// Products of a small unitary matrix with long rows or columns of others, in place.
#pragma once

#include <algorithm>
#include <vector>

#include <creek/linalg/matrix.hpp>

#include "blas3/workers.hpp"
#include "kernels/pack_memory.hpp"
#include "kernels/product.hpp"

namespace creek::linalg::detail {

/// C = U^H C or C U for several C. An operand is packed before its place is overwritten, so no copy
/// is needed. The pieces do not depend on the workers.
template <scalar T>
class block_update {
 public:
  /// U is packed now, and may change afterwards.
  explicit block_update(const_view<T> U)
      : order_(U.rows()),
        left_(packed_left_size<T>(order_, order_)),
        right_(packed_right_size<T>(order_, order_)) {
    pack_left(strided_of<T>(U, op::conjugate_transpose), order_, order_, left_.data());
    pack_right(strided_of<T>(U, op::none), order_, order_, T{1}, right_.data());
  }

  /// Notes a product: C = U^H C (left) or C U (right).
  void add(side where, matrix_view<T> C) {
    const index_t size = where == side::left ? C.cols() : C.rows();
    for (index_t at = 0; at < size; at += piece_size) {
      const index_t part = std::min(piece_size, size - at);
      pieces_.push_back(
          {where, where == side::left ? C.columns(at, part) : C.block(at, 0, part, C.cols())});
    }
  }

  /// Computes all products, on all workers.
  void run() const {
    if (pieces_.empty()) return;
    all_workers::for_each(static_cast<index_t>(pieces_.size()),
                          [this](index_t at) { multiply(pieces_[static_cast<std::size_t>(at)]); });
  }

 private:
  static constexpr index_t piece_size = 192;
  struct piece {
    side where;
    matrix_view<T> C;
  };

  void multiply(const piece& of) const {
    const matrix_view<T> C = of.C;
    const strided<T> from = strided_of<T>(C, op::none);
    if (of.where == side::left) {
      const pack_array<real<T>> packed(packed_right_size<T>(order_, C.cols()));
      pack_right(from, order_, C.cols(), T{1}, packed.data());
      scale(T{}, C);
      multiply_packed(order_, C.cols(), order_, left_.data(), packed.data(), C.data(), C.leading());
    } else {
      const pack_array<real<T>> packed(packed_left_size<T>(C.rows(), order_));
      pack_left(from, C.rows(), order_, packed.data());
      scale(T{}, C);
      multiply_packed(C.rows(), order_, order_, packed.data(), right_.data(), C.data(),
                      C.leading());
    }
  }

  index_t order_;
  pack_array<real<T>> left_;
  pack_array<real<T>> right_;
  std::vector<piece> pieces_;
};

}  // namespace creek::linalg::detail
