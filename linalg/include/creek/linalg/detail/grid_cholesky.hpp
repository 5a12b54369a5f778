// SPDX-License-Identifier: Apache-2.0
// Cholesky (lower triangle) on a grid of processes. A panel's rows are sent along the rows of the
// grid, and from there down its columns to the processes whose columns they are.
#pragma once

#include <vector>

#include <creek/linalg/cholesky.hpp>
#include <creek/linalg/detail/grid_line.hpp>

namespace creek::linalg::detail {

template <class Communicator, scalar T>
class grid_cholesky {
 public:
  grid_cholesky(Communicator& all, const grid_view<T>& A)
      : A_(A), row_(row_of_grid(all, A.grid())), column_(column_of_grid(all, A.grid())) {}

  /// Returns info, the same on every process; the factorization stops where it is not 0.
  index_t run() {
    const index_t n = A_.cols().size, block = A_.cols().block;
    for (index_t first = 0; first < n; first += block) {
      const index_t order = std::min(block, n - first);
      const index_t info = panel(first, order);
      if (info != 0) return first + info;
      spread(first + order, order);
      update(first + order);
    }
    return 0;
  }

 private:
  index_t panel(index_t first, index_t order) {
    const index_t n = A_.rows().size;
    const index_t below = A_.rows().local_size() - A_.rows().before(first + order);
    // A place after the elements for info.
    elements_.assign(static_cast<std::size_t>(below * order) + 1, T{});
    left_ = {elements_.data(), below, order, std::max<index_t>(1, below)};
    const int root = A_.cols().owner(first);
    if (row_.rank() == root) {
      std::vector<T> diagonal_block(static_cast<std::size_t>(order * order) + 1);
      const matrix_view<T> L(diagonal_block.data(), order, order, order);
      if (A_.rows().owns(first)) {
        const matrix_view<T> D = A_.local(first, first + order, first, first + order);
        diagonal_block.back() = static_cast<real<T>>(potrf<T>(triangle::lower, D));
        copy<T>(D, L);
      }
      column_.bcast(std::span<T>(diagonal_block), A_.rows().owner(first));
      elements_.back() = diagonal_block.back();
      if (elements_.back() == T{} && below > 0) {
        const matrix_view<T> B = A_.local(first + order, n, first, first + order);
        trsm<T>(side::right, triangle::lower, op::conjugate_transpose, diagonal::stored, T{1}, L,
                B);
        copy<T>(B, left_);
      }
    }
    row_.bcast(std::span<T>(elements_), root);
    return static_cast<index_t>(std::real(elements_.back()));
  }

  /// Collects the rows of the panel that are columns of this process: one message a pair.
  void spread(index_t first, index_t order) {
    const cyclic_axis &rows = A_.rows(), &cols = A_.cols();
    const index_t n = cols.size, mine = cols.local_size() - cols.before(first);
    turned_memory_.assign(static_cast<std::size_t>(mine * order), T{});
    turned_ = {turned_memory_.data(), mine, order, std::max<index_t>(1, mine)};
    const auto processes = static_cast<std::size_t>(column_.size());
    std::vector<std::vector<index_t>> from(processes);
    for (index_t c = first; c < n; ++c) {
      if (cols.owns(c)) from[static_cast<std::size_t>(rows.owner(c))].push_back(c);
    }
    std::vector<std::vector<T>> parts(processes);
    pending_messages<Communicator> messages;
    for (std::size_t p = 0; p < processes; ++p) {
      parts[p].resize(from[p].size() * static_cast<std::size_t>(order));
      if (static_cast<int>(p) != column_.rank()) {
        messages.receive(column_, std::span<T>(parts[p]), static_cast<int>(p));
      }
    }
    const auto me = static_cast<std::size_t>(column_.rank());
    std::size_t at = 0;
    for (const index_t c : from[me]) {
      for (index_t k = 0; k < order; ++k) {
        parts[me][at++] = left_(rows.before(c) - rows.before(first), k);
      }
    }
    for (std::size_t p = 0; p < processes; ++p) {
      if (p != me) messages.send(column_, std::span<const T>(parts[me]), static_cast<int>(p));
    }
    messages.wait();
    for (std::size_t p = 0; p < processes; ++p) {
      at = 0;
      for (const index_t c : from[p]) {
        const index_t i = cols.before(c) - cols.before(first);
        for (index_t k = 0; k < order; ++k) turned_(i, k) = parts[p][at++];
      }
    }
  }

  void update(index_t first) {
    const index_t n = A_.cols().size, block = A_.cols().block, order = left_.cols();
    for (index_t c = first; c < n; c += block) {
      if (!A_.cols().owns(c)) continue;
      const index_t end = std::min(c + block, n);
      const const_view<T> M =
          turned_.block(A_.cols().before(c) - A_.cols().before(first), 0, end - c, order);
      if (A_.rows().owns(c)) {
        const index_t at = A_.rows().before(c) - A_.rows().before(first);
        herk<T>(triangle::lower, op::none, real<T>(-1), left_.block(at, 0, end - c, order),
                real<T>(1), A_.local(c, end, c, end));
      }
      const matrix_view<T> C = A_.local(end, n, c, end);
      if (C.rows() == 0) continue;
      gemm<T>(op::none, op::conjugate_transpose, T{-1},
              left_.block(left_.rows() - C.rows(), 0, C.rows(), order), M, T{1}, C);
    }
  }

  grid_view<T> A_;
  grid_line<Communicator> row_, column_;
  std::vector<T> elements_, turned_memory_;
  matrix_view<T> left_, turned_;
};

}  // namespace creek::linalg::detail
