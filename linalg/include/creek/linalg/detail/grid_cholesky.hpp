// SPDX-License-Identifier: Apache-2.0
// Cholesky (lower triangle) on a grid of processes. A panel's rows are sent along the rows of the
// grid, and from there down its columns to the processes whose columns they are. The next panel is
// updated and factored first, and its messages are under way while the rest is updated.
#pragma once

#include <algorithm>
#include <utility>
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
    if (n == 0) return 0;
    begin(0);
    for (index_t first = 0; first < n; first += block) {
      messages_.wait();
      std::swap(now_, next_);
      if (now_.info() != 0) return first + now_.info();
      const index_t rest = now_.end;
      if (rest == n) break;
      spread();
      const index_t end = std::min(rest + block, n);
      update_triangle(rest, end);
      update_rows(end, n, rest, end);
      begin(rest);
      update_triangle(end, n);
    }
    return 0;
  }

 private:
  /// The local rows below a diagonal block. After the elements there is a place for info.
  struct panel {
    index_t info() const { return static_cast<index_t>(std::real(elements.back())); }
    index_t end = 0;
    std::vector<T> elements;
    matrix_view<T> left;
  };

  /// Factors the panel and begins to send it, or begins to receive it.
  void begin(index_t first) {
    const index_t n = A_.rows().size, end = std::min(first + A_.cols().block, n);
    const index_t order = end - first, below = A_.rows().local_size() - A_.rows().before(end);
    next_.end = end;
    next_.elements.resize(static_cast<std::size_t>(below * order) + 1);
    next_.left = {next_.elements.data(), below, order, std::max<index_t>(1, below)};
    const int root = A_.cols().owner(first);
    if (row_.rank() != root) {
      messages_.receive(row_, std::span<T>(next_.elements), root);
      return;
    }
    std::vector<T> diagonal_block(static_cast<std::size_t>(order * order) + 1);
    const matrix_view<T> L(diagonal_block.data(), order, order, order);
    if (A_.rows().owns(first)) {
      const matrix_view<T> D = A_.local(first, end, first, end);
      diagonal_block.back() = static_cast<real<T>>(potrf<T>(triangle::lower, D));
      copy<T>(D, L);
    }
    column_.bcast(std::span<T>(diagonal_block), A_.rows().owner(first));
    next_.elements.back() = diagonal_block.back();
    if (diagonal_block.back() == T{} && below > 0) {
      const matrix_view<T> B = A_.local(end, n, first, end);
      trsm<T>(side::right, triangle::lower, op::conjugate_transpose, diagonal::stored, T{1}, L, B);
      copy<T>(B, next_.left);
    }
    messages_.send_to_all(row_, std::span<const T>(next_.elements));
  }

  /// Collects the rows of the panel that are columns of this process: one message a pair.
  void spread() {
    const cyclic_axis &rows = A_.rows(), &cols = A_.cols();
    const index_t first = now_.end, n = cols.size, order = now_.left.cols();
    const index_t mine = cols.local_size() - cols.before(first);
    turned_memory_.resize(static_cast<std::size_t>(mine * order));
    turned_ = {turned_memory_.data(), mine, order, std::max<index_t>(1, mine)};
    // A block of columns is a block of rows, too.
    const auto each_block = [&](int process, auto f) {
      for (index_t c = first; c < n; c += cols.block) {
        if (!cols.owns(c) || rows.owner(c) != process) continue;
        const index_t size = std::min(cols.block, n - c);
        f(c, size, turned_.block(cols.before(c) - cols.before(first), 0, size, order));
      }
    };
    each_block(column_.rank(), [&](index_t c, index_t size, matrix_view<T> to) {
      copy<T>(now_.left.block(rows.before(c) - rows.before(first), 0, size, order), to);
    });
    if (column_.size() == 1) return;
    // The elements of the blocks of one process, one block after the other.
    std::vector<std::vector<T>> parts(static_cast<std::size_t>(column_.size()));
    pending_messages<Communicator> messages;
    for (int p = 0; p < column_.size(); ++p) {
      std::vector<T>& part = parts[static_cast<std::size_t>(p)];
      std::size_t count = 0;
      each_block(p, [&](index_t, index_t size, matrix_view<T>) {
        count += static_cast<std::size_t>(size * order);
      });
      part.resize(count);
      if (p != column_.rank()) messages.receive(column_, std::span<T>(part), p);
    }
    std::vector<T>& out = parts[static_cast<std::size_t>(column_.rank())];
    T* place = out.data();
    each_block(column_.rank(), [&](index_t, index_t size, matrix_view<T> from) {
      copy<T>(from, matrix_view<T>(place, size, order, size));
      place += size * order;
    });
    messages.send_to_all(column_, std::span<const T>(out));
    messages.wait();
    for (int p = 0; p < column_.size(); ++p) {
      if (p == column_.rank()) continue;
      T* at = parts[static_cast<std::size_t>(p)].data();
      each_block(p, [&](index_t, index_t size, matrix_view<T> to) {
        copy<T>(matrix_view<T>(at, size, order, size), to);
        at += size * order;
      });
    }
  }

  /// Updates the rows and columns [from, to) of the triangle, by halves, so that most of the work
  /// is in large products.
  void update_triangle(index_t from, index_t to) {
    if (from == to) return;
    const index_t block = A_.cols().block, blocks = (to - from + block - 1) / block;
    if (blocks > 1) {
      const index_t middle = from + blocks / 2 * block;
      update_triangle(from, middle);
      update_rows(middle, to, from, middle);
      return update_triangle(middle, to);
    }
    if (!A_.cols().owns(from) || !A_.rows().owns(from)) return;
    herk<T>(triangle::lower, op::none, real<T>(-1), rows_of_panel(from, to), real<T>(1),
            A_.local(from, to, from, to));
  }
  /// Updates the rows [from, to) of the columns [left, right), in strips between which messages are
  /// pushed.
  void update_rows(index_t from, index_t to, index_t left, index_t right) {
    const matrix_view<T> C = A_.local(from, to, left, right);
    if (C.empty()) return;
    constexpr index_t strip = 256;
    const index_t at = A_.cols().before(left) - A_.cols().before(now_.end);
    for (index_t j = 0; j < C.cols(); j += strip) {
      const index_t width = std::min(strip, C.cols() - j);
      gemm<T>(op::none, op::conjugate_transpose, T{-1}, rows_of_panel(from, to),
              turned_.block(at + j, 0, width, turned_.cols()), T{1}, C.columns(j, width));
      messages_.push();
    }
  }
  matrix_view<T> rows_of_panel(index_t from, index_t to) const {
    const cyclic_axis& rows = A_.rows();
    return now_.left.block(rows.before(from) - rows.before(now_.end), 0,
                           rows.before(to) - rows.before(from), now_.left.cols());
  }

  grid_view<T> A_;
  grid_line<Communicator> row_, column_;
  panel now_, next_;
  std::vector<T> turned_memory_;
  matrix_view<T> turned_;
  pending_messages<Communicator> messages_;
};

}  // namespace creek::linalg::detail
