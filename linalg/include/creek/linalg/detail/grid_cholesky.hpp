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
#include <creek/linalg/detail/grid_job.hpp>
#include <creek/linalg/detail/grid_line.hpp>

namespace creek::linalg::detail {

template <class Communicator, scalar T>
class grid_cholesky {
 public:
  grid_cholesky(Communicator& all, triangle stored, const grid_view<T>& A, runtime* workers)
      : A_(A),
        workers_(workers),
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
      update(rest);
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

  /// C -= left right^H, or left^H right in the upper triangle; of a diagonal block its triangle.
  struct piece {
    matrix_view<T> left, right, C;
    bool is_diagonal;
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

  /// Updates everything from `rest` on. The next panel comes first, and it is factored and sent
  /// while the others are updated.
  void update(index_t rest) {
    const index_t n = long_.size, end = std::min(rest + long_.block, n);
    std::vector<piece> first, others;
    split_triangle(rest, end, first);
    split_block(end, n, rest, end, first);
    split_triangle(end, n, others);
    const auto count = [](const std::vector<piece>& of) { return static_cast<index_t>(of.size()); };
    const auto of = [this](const std::vector<piece>& pieces) {
      return [this, &pieces](index_t i) { update(pieces[static_cast<std::size_t>(i)]); };
    };
    grid_job leading(workers_, count(first), of(first));
    grid_job following(workers_, count(others), of(others));
    leading.finish();
    begin(rest);
    following.finish([&] { return messages_.push(); });
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
      run_on(workers_, [&] {
        trsm<T>(lower_ ? side::right : side::left, stored_, op::conjugate_transpose,
                diagonal::stored, T{1}, L, B);
      });
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

  /// Adds the rows and columns [from, to) of the triangle to `pieces`, by halves, so that most of
  /// the work is in large products.
  void split_triangle(index_t from, index_t to, std::vector<piece>& pieces) const {
    if (from == to) return;
    const index_t block = long_.block, blocks = (to - from + block - 1) / block;
    if (blocks > 1) {
      const index_t middle = from + blocks / 2 * block;
      split_triangle(from, middle, pieces);
      split_block(middle, to, from, middle, pieces);
      return split_triangle(middle, to, pieces);
    }
    if (!long_.owns(from) || !short_.owns(from)) return;
    const matrix_view<T> along = part_of_panel(from, to);
    pieces.push_back({along, along, A_.local(from, to, from, to), true});
  }
  /// Adds [from, to) along panels and [left, right) across them, in strips of columns.
  void split_block(index_t from, index_t to, index_t left, index_t right,
                   std::vector<piece>& pieces) const {
    const matrix_view<T> C = local(from, to, left, right);
    if (C.empty()) return;
    constexpr index_t strip = 256;
    const matrix_view<T> along = part_of_panel(from, to);
    const matrix_view<T> across = slice(turned_, short_.before(left) - short_.before(now_.end),
                                        short_.before(right) - short_.before(left));
    for (index_t j = 0; j < C.cols(); j += strip) {
      const index_t width = std::min(strip, C.cols() - j);
      pieces.push_back({lower_ ? along : across, slice(lower_ ? across : along, j, width),
                        C.columns(j, width), false});
    }
  }
  void update(const piece& p) const {
    const op how = lower_ ? op::none : op::conjugate_transpose;
    if (p.is_diagonal) return herk<T>(stored_, how, real<T>(-1), p.left, real<T>(1), p.C);
    gemm<T>(how, lower_ ? op::conjugate_transpose : op::none, T{-1}, p.left, p.right, T{1}, p.C);
  }
  matrix_view<T> part_of_panel(index_t from, index_t to) const {
    return slice(now_.part, long_.before(from) - long_.before(now_.end),
                 long_.before(to) - long_.before(from));
  }

  grid_view<T> A_;
  runtime* workers_;
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
