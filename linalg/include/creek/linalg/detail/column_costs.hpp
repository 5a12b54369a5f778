// SPDX-License-Identifier: Apache-2.0
// Work of a rank's steps, for an observer: flops, and the traffic of the rank's private memory if
// the memory policy models it. The kernels that do the work here pack their
// operands for the host's caches; the stated work is that of the same steps on a core whose
// caches allocate on reads only: a panel is halved down to single columns, an update reads its
// panel and its columns and writes these back. On a host a charge is one predicted branch or
// nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <creek/core/charge.hpp>
#include <creek/linalg/detail/column_steps.hpp>

namespace creek::linalg::detail {

/// Memory policy with a cost model of private memory. It is told of `bytes` read, or written back
/// after they were read, out of a `working_set` of bytes in use by turns, besides the work on them.
template <class Memory>
concept private_memory_model = requires(Memory& m, std::size_t bytes, std::size_t working_set) {
  m.operand_read(bytes, working_set);
  m.operand_rewritten(bytes, working_set);
};

template <class Memory, scalar T>
class column_costs {
 public:
  explicit column_costs(Memory& memory) noexcept : memory_{&memory} {}

  void flops(std::int64_t number) const { charge(work::flop, is_complex<T> ? 4 * number : number); }

  /// Charges a panel factored in place. It is halved down to single columns: at each width the
  /// right half is read and rewritten using the left one, and at the end each column by itself.
  void factored(column_method how, const panel_place& at) const {
    flops(panel_flops(how, at));
    const std::size_t panel = size_of(at.rows * at.order);
    for (index_t width = at.order; width > 1; width = (width + 1) / 2) {
      const std::size_t in_turn = size_of(at.rows * width);
      read(panel, in_turn);
      rewritten(panel / 2, in_turn);
    }
    read(panel, size_of(at.rows));
    rewritten(panel, size_of(at.rows));
  }
  /// Charges an update of a `rows` x `cols` block out of `own` elements updated by turns.
  void updated(column_method how, index_t rows, index_t cols, index_t order, index_t own) const {
    flops(update_flops(how, rows, cols, order));
    const std::size_t panel = size_of(rows * order), block = size_of(rows * cols);
    const std::size_t in_turn = panel + size_of(std::max(own, rows * cols));
    read(panel, panel + block);
    read(block, in_turn);
    rewritten(block, in_turn);
  }
  /// Charges row exchanges in `cols` columns of `rows` elements, one column after the other.
  void exchanged(index_t rows, index_t cols) const {
    read(size_of(rows * cols), ~std::size_t{0});
    rewritten(size_of(rows * cols), size_of(rows));
  }
  /// Charges columns of `elements` elements, read once for `sides` right-hand sides.
  void solved(index_t elements, index_t sides) const {
    flops(2 * elements * sides);
    read(size_of(elements), ~std::size_t{0});
  }
  /// Charges a piece of a message of `whole` bytes: sent() before it enters the buffers, received()
  /// after it left them.
  void sent(std::size_t bytes, std::size_t whole) const { read(bytes, whole); }
  void received(std::size_t bytes, std::size_t whole) const { rewritten(bytes, whole); }

 private:
  static std::size_t size_of(index_t elements) noexcept {
    return static_cast<std::size_t>(elements) * sizeof(T);
  }
  void read(std::size_t bytes, std::size_t working_set) const {
    if constexpr (private_memory_model<Memory>) memory_->operand_read(bytes, working_set);
  }
  void rewritten(std::size_t bytes, std::size_t working_set) const {
    if constexpr (private_memory_model<Memory>) memory_->operand_rewritten(bytes, working_set);
  }

  Memory* memory_;
};

}  // namespace creek::linalg::detail
