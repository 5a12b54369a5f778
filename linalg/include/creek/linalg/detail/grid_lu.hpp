// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting on a grid of processes: the processes of a column of the grid factor a
// panel; each sends its part along its row; then rows are exchanged within the columns of the grid,
// one message a pair and panel, and each process updates its part. The next panel is updated and
// factored first, and its messages are under way while the rest is updated.
#pragma once

#include <memory>
#include <optional>

#include <creek/linalg/detail/grid_lu_panel.hpp>
#include <creek/linalg/lu.hpp>

namespace creek::linalg::detail {

/// Panel as a row of the grid gets it: info, pivots, the triangle L11, the local rows of L21.
template <scalar T>
struct grid_panel {
  grid_panel(const grid_view<T>& A, index_t first)
      : first(first),
        order(std::min({A.cols().block, A.cols().size - first, A.rows().size - first})),
        below(A.rows().local_size() - A.rows().before(first + order)),
        numbers(static_cast<std::size_t>(order) + 1),
        elements(static_cast<std::size_t>((order + below) * order)) {}
  matrix_view<T> top() noexcept { return {elements.data(), order, order, order}; }
  matrix_view<T> left() noexcept {
    return {elements.data() + order * order, below, order, std::max<index_t>(1, below)};
  }
  index_t& info() noexcept { return numbers[0]; }
  index_t* pivots() noexcept { return numbers.data() + 1; }

  index_t first, order, below;
  std::vector<index_t> numbers;
  std::vector<T> elements;
};

/// Exchanges rows of a matrix by a panel's pivots, and updates it.
template <class Communicator, scalar T>
class grid_update {
 public:
  grid_update(Communicator& all, const process_grid& grid) : column_(column_of_grid(all, grid)) {}

  /// Exchanges the rows of local columns, all of them at once; `backwards` undoes it. At every
  /// process `U` becomes the top rows, times L11^-1 if `by` is not null, if U is not null.
  void exchange(const cyclic_axis& rows, index_t first, index_t order, const index_t* pivots,
                matrix_view<T> C, const_view<T>* by, matrix_view<T>* U, bool backwards = false) {
    if (C.cols() == 0) return;
    plan(rows, first, order, pivots, backwards);
    const int root = rows.owner(first);
    column_.rank() == root ? serve(rows, first, C, by, U) : ask(root, C, U);
  }

  /// Exchanges the rows of local columns by the pivots of all rows.
  void exchange_all(const cyclic_axis& rows, const index_t* pivots, matrix_view<T> C,
                    bool backwards) {
    for (index_t i = 0; i < rows.blocks(); ++i) {
      const index_t first = (backwards ? rows.blocks() - 1 - i : i) * rows.block;
      exchange(rows, first, std::min(rows.block, rows.size - first), pivots + first, C, nullptr,
               nullptr, backwards);
    }
  }

 private:
  struct move {
    index_t row, top;  ///< row at its process, and row of the panel's top
  };

  /// Finds which rows come to the top, and which rows of the top go elsewhere.
  void plan(const cyclic_axis& rows, index_t first, index_t order, const index_t* pivots,
            bool backwards) {
    order_ = order;
    sources_.resize(static_cast<std::size_t>(order));
    for (index_t i = 0; i < order; ++i) sources_[static_cast<std::size_t>(i)] = first + i;
    down_.assign(static_cast<std::size_t>(column_.size()), {});
    std::vector<move> lower;
    for (index_t step = 0; step < order; ++step) {
      const index_t i = backwards ? order - 1 - step : step;
      index_t& here = sources_[static_cast<std::size_t>(i)];
      if (pivots[i] < first + order) {
        std::swap(here, sources_[static_cast<std::size_t>(pivots[i] - first)]);
        continue;
      }
      auto at = std::find_if(lower.begin(), lower.end(),
                             [&](const move& m) { return m.row == pivots[i]; });
      if (at == lower.end()) at = lower.insert(at, move{pivots[i], pivots[i]});
      std::swap(here, at->top);
    }
    for (const move& m : lower) {
      if (m.top != m.row) down_[static_cast<std::size_t>(rows.owner(m.row))].push_back(m);
    }
    for (auto& each : down_) {
      for (move& m : each) {
        if (m.top < first + order) m.top -= first;
      }
    }
    up_.assign(down_.size(), {});
    for (index_t i = 0; i < order; ++i) {
      const index_t s = sources_[static_cast<std::size_t>(i)];
      up_[static_cast<std::size_t>(rows.owner(s))].push_back(move{s, i});
    }
    for (auto* moves : {&up_, &down_}) {
      for (int p = 0; p < column_.size(); ++p) {
        for (move& m : (*moves)[static_cast<std::size_t>(p)]) m.row = rows.before(m.row, p);
      }
    }
  }
  matrix_view<T> room(std::vector<T>& memory, index_t rows, index_t cols) const {
    memory.resize(static_cast<std::size_t>(rows * cols));
    return {memory.data(), rows, cols, std::max<index_t>(1, rows)};
  }

  void serve(const cyclic_axis& rows, index_t first, matrix_view<T> C, const_view<T>* by,
             matrix_view<T>* U) {
    const index_t n = C.cols(), top = rows.before(first);
    const auto processes = static_cast<std::size_t>(column_.size());
    std::vector<T> part;
    const matrix_view<T> old = room(old_memory_, order_, n), fresh = room(new_memory_, order_, n);
    copy<T>(C.block(top, 0, order_, n), old);
    for (std::size_t p = 0; p < processes; ++p) {
      const auto& moves = up_[p];
      const auto count = static_cast<index_t>(moves.size());
      const bool here = static_cast<int>(p) == column_.rank();
      if (!here && count > 0) {
        (void)room(part, count, n);
        column_.recv(std::span<T>(part), static_cast<int>(p));
      }
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < count; ++i) {
          const move& m = moves[static_cast<std::size_t>(i)];
          fresh(m.top, j) = here ? C(m.row, j) : part[static_cast<std::size_t>(i + j * count)];
        }
        if (!here) continue;
        // The rows of this column are in the cache now.
        for (const move& m : down_[p]) C(m.row, j) = old(m.top, j);
      }
    }
    if (by != nullptr) {
      trsm<T>(side::left, triangle::lower, op::none, diagonal::unit, T{1}, *by, fresh);
    }
    std::vector<std::vector<T>> answers(processes);
    pending_messages<Communicator> out;  // ends before the answers do, also by an exception
    for (std::size_t p = 0; p < processes; ++p) {
      const auto& moves = down_[p];
      if (static_cast<int>(p) == column_.rank()) continue;
      const index_t shared = U == nullptr ? 0 : order_;
      const auto count = static_cast<index_t>(moves.size());
      const matrix_view<T> answer = room(answers[p], shared + count, n);
      if (shared != 0) copy<T>(fresh, answer.block(0, 0, shared, n));
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < count; ++i) {
          answer(shared + i, j) = old(moves[static_cast<std::size_t>(i)].top, j);
        }
      }
      out.send(column_, std::span<const T>(answers[p]), static_cast<int>(p));
    }
    copy<T>(fresh, C.block(top, 0, order_, n));
    if (U != nullptr) copy<T>(fresh, *U);
    out.wait();
  }

  void ask(int root, matrix_view<T> C, matrix_view<T>* U) {
    const index_t n = C.cols();
    const auto me = static_cast<std::size_t>(column_.rank());
    std::vector<T> out, in;
    const auto sent = static_cast<index_t>(up_[me].size());
    const matrix_view<T> rows_up = room(out, sent, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < sent; ++i) {
        rows_up(i, j) = C(up_[me][static_cast<std::size_t>(i)].row, j);
      }
    }
    if (sent > 0) column_.send(std::span<const T>(out), root);
    const auto count = static_cast<index_t>(down_[me].size());
    const index_t shared = U == nullptr ? 0 : order_;
    if (shared + count == 0) return;
    const matrix_view<T> answer = room(in, shared + count, n);
    column_.recv(std::span<T>(in), root);
    if (shared != 0) copy<T>(answer.block(0, 0, shared, n), *U);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < count; ++i) {
        C(down_[me][static_cast<std::size_t>(i)].row, j) = answer(shared + i, j);
      }
    }
  }

  grid_line<Communicator> column_;
  index_t order_ = 0;
  std::vector<index_t> sources_;
  std::vector<std::vector<move>> up_, down_;  // by process of the column
  std::vector<T> old_memory_, new_memory_;
};

template <class Communicator, scalar T>
class grid_lu {
 public:
  grid_lu(Communicator& all, const grid_view<T>& A, index_t* pivots)
      : A_(A),
        pivots_(pivots),
        row_(row_of_grid(all, A.grid())),
        column_(column_of_grid(all, A.grid())),
        update_(all, A.grid()) {}

  index_t run() {
    const index_t steps = std::min(A_.rows().size, A_.cols().size), block = A_.cols().block;
    if (steps == 0) return 0;
    begin(0);
    for (index_t first = 0; first < steps; first += block) {
      messages_.wait();
      const std::unique_ptr<grid_panel<T>> panel = std::move(next_);
      note(*panel);
      index_t rest = first + panel->order;
      const index_t following = first + block;
      if (following < steps) {
        if (A_.cols().owns(following)) {
          const index_t end = std::min(following + block, A_.cols().size);
          apply(*panel, rest, end);
          rest = end;
        }
        begin(following);
      }
      apply(*panel, rest, A_.cols().size);
    }
    messages_.wait();
    exchange_left(steps);
    return info_;
  }

 private:
  /// Factors the panel and begins to send it, or begins to receive it.
  void begin(index_t first) {
    next_ = std::make_unique<grid_panel<T>>(A_, first);
    grid_panel<T>* const panel = next_.get();
    const int root = A_.cols().owner(first);
    if (root != row_.rank()) {
      messages_.receive(row_, std::span<index_t>(panel->numbers), root);
      messages_.receive(row_, std::span<T>(panel->elements), root);
      return;
    }
    const matrix_view<T> A = A_.local(first, A_.rows().size, first, first + panel->order);
    if (column_.size() == 1) {
      panel->info() =
          getrf<T>(A, std::span<index_t>(panel->pivots(), static_cast<std::size_t>(panel->order)));
      for (index_t i = 0; i < panel->order; ++i) panel->pivots()[i] += first;
      copy<T>(A.block(0, 0, panel->order, panel->order), panel->top());
    } else {
      panel->info() = grid_lu_panel<Communicator, T>(column_, A_.rows(), first, A, panel->top(),
                                                     panel->pivots())
                          .run();
    }
    copy<T>(A.block(A.rows() - panel->below, 0, panel->below, panel->order), panel->left());
    messages_.send_to_all(row_, std::span<const index_t>(panel->numbers));
    messages_.send_to_all(row_, std::span<const T>(panel->elements));
  }
  void note(grid_panel<T>& panel) {
    if (info_ == 0 && panel.info() != 0) info_ = panel.info() + panel.first;
    std::copy_n(panel.pivots(), panel.order, pivots_ + panel.first);
  }
  /// Updates the local part of the columns [from, to), in strips between which messages are pushed.
  void apply(grid_panel<T>& panel, index_t from, index_t to) {
    const matrix_view<T> C = A_.local(0, A_.rows().size, from, to);
    if (C.cols() == 0) return;
    solved_.resize(static_cast<std::size_t>(panel.order * C.cols()));
    matrix_view<T> U(solved_.data(), panel.order, C.cols(), panel.order);
    const_view<T> triangle = panel.top();
    update_.exchange(A_.rows(), panel.first, panel.order, panel.pivots(), C, &triangle, &U);
    if (panel.below == 0) return;
    constexpr index_t strip = 256;
    for (index_t j = 0; j < C.cols(); j += strip) {
      const index_t n = std::min(strip, C.cols() - j);
      gemm<T>(op::none, op::none, T{-1}, panel.left(), U.columns(j, n), T{1},
              C.block(C.rows() - panel.below, j, panel.below, n));
      messages_.push();
    }
  }
  void exchange_left(index_t steps) {
    for (index_t first = A_.cols().block; first < steps; first += A_.cols().block) {
      update_.exchange(A_.rows(), first, std::min(A_.cols().block, steps - first), pivots_ + first,
                       A_.local(0, A_.rows().size, 0, first), nullptr, nullptr);
    }
  }

  grid_view<T> A_;
  index_t* pivots_;
  grid_line<Communicator> row_, column_;
  grid_update<Communicator, T> update_;
  std::unique_ptr<grid_panel<T>> next_;
  pending_messages<Communicator> messages_;  // of next_, so it ends first
  std::vector<T> solved_;
  index_t info_ = 0;
};

}  // namespace creek::linalg::detail
