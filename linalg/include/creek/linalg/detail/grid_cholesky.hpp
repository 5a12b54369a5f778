// SPDX-License-Identifier: Apache-2.0
// Cholesky on a grid of processes. In the lower triangle the rows of a panel are sent along the
// rows of the grid, and from there down its columns to the processes whose columns they are. In the
// upper triangle a panel is a block of rows, and rows and columns change roles. The next panel is
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
  grid_cholesky(Communicator& all, triangle stored, const grid_view<T>& A)
      : A_(A),
        stored_(stored),
        lower_(stored == triangle::lower),
        long_(lower_ ? A.rows() : A.cols()),
        short_(lower_ ? A.cols() : A.rows()),
        across_(lower_ ? row_of_grid(all, A.grid()) : column_of_grid(all, A.grid())),
        along_(lower_ ? column_of_grid(all, A.grid()) : row_of_grid(all, A.grid())) {}

  /// Returns info, the same on every process; the factorization stops where it is not 0.
  index_t run() {
    const index_t n = long_.size, block = long_.block;
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
      update_block(end, n, rest, end);
      begin(rest);
      update_triangle(end, n);
    }
    return 0;
  }

 private:
  /// The local part of a panel beyond the diagonal block: rows in the lower triangle, columns in
  /// the upper one. After the elements there is a place for info.
  struct panel {
    index_t info() const { return static_cast<index_t>(std::real(elements.back())); }
    index_t end = 0;
    std::vector<T> elements;
    matrix_view<T> part;
  };

  /// Returns memory as a panel with so many rows (lower) or columns (upper).
  matrix_view<T> shaped(T* data, index_t length, index_t order) const {
    if (lower_) return {data, length, order, std::max<index_t>(1, length)};
    return {data, order, length, order};
  }
  /// Returns some rows (lower) or columns (upper) of a panel.
  matrix_view<T> slice(matrix_view<T> panel, index_t at, index_t length) const {
    return lower_ ? panel.block(at, 0, length, panel.cols()) : panel.columns(at, length);
  }
  index_t order_of(matrix_view<T> panel) const { return lower_ ? panel.cols() : panel.rows(); }
  /// Returns the local part of [from, to) along panels and [left, right) across them.
  matrix_view<T> local(index_t from, index_t to, index_t left, index_t right) const {
    return lower_ ? A_.local(from, to, left, right) : A_.local(left, right, from, to);
  }

  /// Factors the panel and begins to send it, or begins to receive it.
  void begin(index_t first) {
    const index_t n = long_.size, end = std::min(first + long_.block, n);
    const index_t order = end - first, beyond = long_.local_size() - long_.before(end);
    next_.end = end;
    next_.elements.resize(static_cast<std::size_t>(beyond * order) + 1);
    next_.part = shaped(next_.elements.data(), beyond, order);
    const int root = short_.owner(first);
    if (across_.rank() != root) {
      messages_.receive(across_, std::span<T>(next_.elements), root);
      return;
    }
    std::vector<T> diagonal_block(static_cast<std::size_t>(order * order) + 1);
    const matrix_view<T> L(diagonal_block.data(), order, order, order);
    if (long_.owns(first)) {
      const matrix_view<T> D = A_.local(first, end, first, end);
      diagonal_block.back() = static_cast<real<T>>(potrf<T>(stored_, D));
      copy<T>(D, L);
    }
    along_.bcast(std::span<T>(diagonal_block), long_.owner(first));
    next_.elements.back() = diagonal_block.back();
    if (diagonal_block.back() == T{} && beyond > 0) {
      const matrix_view<T> B = local(end, n, first, end);
      trsm<T>(lower_ ? side::right : side::left, stored_, op::conjugate_transpose, diagonal::stored,
              T{1}, L, B);
      copy<T>(B, next_.part);
    }
    messages_.send_to_all(across_, std::span<const T>(next_.elements));
  }

  /// Collects the parts of the panel that belong to this process across panels: one message a pair.
  void spread() {
    const index_t first = now_.end, n = short_.size, order = order_of(now_.part);
    const index_t mine = short_.local_size() - short_.before(first);
    turned_memory_.resize(static_cast<std::size_t>(mine * order));
    turned_ = shaped(turned_memory_.data(), mine, order);
    // A block of columns is a block of rows, too.
    const auto each_block = [&](int process, auto f) {
      for (index_t c = first; c < n; c += short_.block) {
        if (!short_.owns(c) || long_.owner(c) != process) continue;
        const index_t size = std::min(short_.block, n - c);
        f(c, size, slice(turned_, short_.before(c) - short_.before(first), size));
      }
    };
    each_block(along_.rank(), [&](index_t c, index_t size, matrix_view<T> to) {
      copy<T>(slice(now_.part, long_.before(c) - long_.before(first), size), to);
    });
    if (along_.size() == 1) return;
    // The elements of the blocks of one process, one block after the other.
    std::vector<std::vector<T>> parts(static_cast<std::size_t>(along_.size()));
    pending_messages<Communicator> messages;
    for (int p = 0; p < along_.size(); ++p) {
      std::vector<T>& part = parts[static_cast<std::size_t>(p)];
      std::size_t count = 0;
      each_block(p, [&](index_t, index_t size, matrix_view<T>) {
        count += static_cast<std::size_t>(size * order);
      });
      part.resize(count);
      if (p != along_.rank()) messages.receive(along_, std::span<T>(part), p);
    }
    std::vector<T>& out = parts[static_cast<std::size_t>(along_.rank())];
    T* place = out.data();
    each_block(along_.rank(), [&](index_t, index_t size, matrix_view<T> from) {
      copy<T>(from, shaped(place, size, order));
      place += size * order;
    });
    messages.send_to_all(along_, std::span<const T>(out));
    messages.wait();
    for (int p = 0; p < along_.size(); ++p) {
      if (p == along_.rank()) continue;
      T* at = parts[static_cast<std::size_t>(p)].data();
      each_block(p, [&](index_t, index_t size, matrix_view<T> to) {
        copy<T>(shaped(at, size, order), to);
        at += size * order;
      });
    }
  }

  /// Updates the rows and columns [from, to) of the triangle, by halves, so that most of the work
  /// is in large products.
  void update_triangle(index_t from, index_t to) {
    if (from == to) return;
    const index_t block = long_.block, blocks = (to - from + block - 1) / block;
    if (blocks > 1) {
      const index_t middle = from + blocks / 2 * block;
      update_triangle(from, middle);
      update_block(middle, to, from, middle);
      return update_triangle(middle, to);
    }
    if (!long_.owns(from) || !short_.owns(from)) return;
    herk<T>(stored_, lower_ ? op::none : op::conjugate_transpose, real<T>(-1),
            part_of_panel(from, to), real<T>(1), A_.local(from, to, from, to));
  }
  /// Updates [from, to) along panels and [left, right) across them, in strips of columns between
  /// which messages are pushed.
  void update_block(index_t from, index_t to, index_t left, index_t right) {
    const matrix_view<T> C = local(from, to, left, right);
    if (C.empty()) return;
    constexpr index_t strip = 256;
    const matrix_view<T> along = part_of_panel(from, to);
    const matrix_view<T> across = slice(turned_, short_.before(left) - short_.before(now_.end),
                                        short_.before(right) - short_.before(left));
    for (index_t j = 0; j < C.cols(); j += strip) {
      const index_t width = std::min(strip, C.cols() - j);
      if (lower_) {
        gemm<T>(op::none, op::conjugate_transpose, T{-1}, along, slice(across, j, width), T{1},
                C.columns(j, width));
      } else {
        gemm<T>(op::conjugate_transpose, op::none, T{-1}, across, slice(along, j, width), T{1},
                C.columns(j, width));
      }
      messages_.push();
    }
  }
  matrix_view<T> part_of_panel(index_t from, index_t to) const {
    return slice(now_.part, long_.before(from) - long_.before(now_.end),
                 long_.before(to) - long_.before(from));
  }

  grid_view<T> A_;
  triangle stored_;
  bool lower_;
  cyclic_axis long_, short_;                ///< along panels, and across them
  grid_line<Communicator> across_, along_;  ///< processes in the same directions
  panel now_, next_;
  std::vector<T> turned_memory_;
  matrix_view<T> turned_;
  pending_messages<Communicator> messages_;
};

}  // namespace creek::linalg::detail
