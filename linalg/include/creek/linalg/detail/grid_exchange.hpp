// SPDX-License-Identifier: Apache-2.0
// Exchanges of rows by the pivots of panels on a grid of processes: one message a pair of processes
// of a column, or none if a process has all rows.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/detail/grid_job.hpp>
#include <creek/linalg/detail/grid_line.hpp>

namespace creek::linalg::detail {

/// The rows that come to the top of a panel, and the rows of the top that go elsewhere.
class grid_exchange {
 public:
  struct move {
    index_t row, top;  ///< row at its process, and row of the panel's top
  };

  /// `pivots` are those of the rows [first, first + order); `backwards` undoes their exchanges.
  grid_exchange(const cyclic_axis& rows, index_t first, index_t order, const index_t* pivots,
                bool backwards = false)
      : root_(rows.owner(first)),
        order_(order),
        top_(rows.before(first)),
        up_(static_cast<std::size_t>(rows.processes)),
        down_(up_.size()) {
    std::vector<index_t> sources(static_cast<std::size_t>(order));
    for (index_t i = 0; i < order; ++i) sources[static_cast<std::size_t>(i)] = first + i;
    std::vector<move> lower;
    for (index_t step = 0; step < order; ++step) {
      const index_t i = backwards ? order - 1 - step : step;
      index_t& here = sources[static_cast<std::size_t>(i)];
      if (pivots[i] < first + order) {
        std::swap(here, sources[static_cast<std::size_t>(pivots[i] - first)]);
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
    for (index_t i = 0; i < order; ++i) {
      const index_t s = sources[static_cast<std::size_t>(i)];
      up_[static_cast<std::size_t>(rows.owner(s))].push_back(move{s, i});
    }
    for (auto* moves : {&up_, &down_}) {
      for (int p = 0; p < rows.processes; ++p) {
        for (move& m : (*moves)[static_cast<std::size_t>(p)]) m.row = rows.before(m.row, p);
      }
    }
  }

  /// The process that has the top.
  [[nodiscard]] int root() const noexcept { return root_; }
  [[nodiscard]] index_t order() const noexcept { return order_; }
  /// Rows of a process that come to the top, and those that get rows of it.
  [[nodiscard]] const std::vector<move>& up(int process) const noexcept {
    return up_[static_cast<std::size_t>(process)];
  }
  [[nodiscard]] const std::vector<move>& down(int process) const noexcept {
    return down_[static_cast<std::size_t>(process)];
  }
  template <class T>
  [[nodiscard]] matrix_view<T> top_of(matrix_view<T> C) const noexcept {
    return C.block(top_, 0, order_, C.cols());
  }

  /// Moves the rows of the process, which is the root: into `fresh` and out of `old`.
  template <scalar T>
  void move_here(int process, matrix_view<T> C, matrix_view<T> old, matrix_view<T> fresh) const {
    for (index_t j = 0; j < C.cols(); ++j) {
      for (const move& m : up(process)) fresh(m.top, j) = C(m.row, j);
      // The rows of this column are in the cache now.
      for (const move& m : down(process)) C(m.row, j) = old(m.top, j);
    }
  }
  /// Exchanges rows that are all here, except that the new top is in `fresh`; `old` gets the old
  /// one.
  template <scalar T>
  void take_here(matrix_view<T> C, matrix_view<T> old, matrix_view<T> fresh) const {
    copy<T>(top_of(C), old);
    move_here<T>(0, C, old, fresh);
  }

 private:
  int root_;
  index_t order_, top_;
  std::vector<std::vector<move>> up_, down_;  // by process of the column
};

/// Returns the exchanges of all rows, in the order in which they are done or undone.
inline std::vector<grid_exchange> exchanges_of_all(const cyclic_axis& rows, const index_t* pivots,
                                                   bool backwards) {
  std::vector<grid_exchange> all;
  for (index_t i = 0; i < rows.blocks(); ++i) {
    const index_t first = (backwards ? rows.blocks() - 1 - i : i) * rows.block;
    all.emplace_back(rows, first, std::min(rows.block, rows.size - first), pivots + first,
                     backwards);
  }
  return all;
}

/// Exchanges rows of matrices, and multiplies the new top rows by L11^-1.
template <class Communicator, scalar T>
class grid_rows {
 public:
  grid_rows(Communicator& all, const process_grid& grid, runtime* workers)
      : workers_(workers), column_(column_of_grid(all, grid)) {}

  /// Returns whether all rows are here.
  [[nodiscard]] bool are_here() const noexcept { return column_.size() == 1; }

  /// Exchanges rows of local columns by messages. At every process U becomes the top rows, times
  /// L11^-1, if `by` is not null.
  void exchange(const grid_exchange& how, matrix_view<T> C, const const_view<T>* by,
                matrix_view<T> U) {
    if (C.cols() == 0) return;
    column_.rank() == how.root() ? serve(how, C, by, U) : ask(how, C, by != nullptr, U);
  }

  /// Does exchanges one after the other. Strip i of `width` columns takes part from number
  /// begin(i) on.
  template <class Begin>
  void exchange_all(const std::vector<grid_exchange>& exchanges, matrix_view<T> C, index_t width,
                    Begin begin) {
    const auto from = [&](index_t strip) { return static_cast<std::size_t>(begin(strip)); };
    const index_t strips = strips_of(C.cols(), width);
    if (are_here()) {
      grid_job job(workers_, strips, [&](index_t i) {
        const matrix_view<T> columns = strip_of(C, i, width);
        std::vector<T> old, fresh;
        for (std::size_t k = from(i); k < exchanges.size(); ++k) {
          const index_t order = exchanges[k].order();
          const matrix_view<T> top = room(fresh, order, columns.cols());
          exchanges[k].template take_here<T>(columns, room(old, order, columns.cols()), top);
          copy<T>(top, exchanges[k].top_of(columns));
        }
      });
      return job.finish();
    }
    for (std::size_t k = 0; k < exchanges.size(); ++k) {
      index_t last = 0;
      while (last < strips && from(last) <= k) ++last;
      exchange(exchanges[k], C.columns(0, std::min(last * width, C.cols())), nullptr, {});
    }
  }

  static matrix_view<T> room(std::vector<T>& memory, index_t rows, index_t cols) {
    memory.resize(static_cast<std::size_t>(rows * cols));
    return {memory.data(), rows, cols, std::max<index_t>(1, rows)};
  }

 private:
  using move = grid_exchange::move;

  void serve(const grid_exchange& how, matrix_view<T> C, const const_view<T>* by,
             matrix_view<T> U) {
    const index_t n = C.cols(), order = how.order();
    std::vector<T> part;
    const matrix_view<T> old = room(old_memory_, order, n), fresh = room(new_memory_, order, n);
    copy<T>(how.top_of(C), old);
    for (int p = 0; p < column_.size(); ++p) {
      if (p == column_.rank()) {
        how.move_here<T>(p, C, old, fresh);
        continue;
      }
      const auto& moves = how.up(p);
      if (moves.empty()) continue;
      const auto count = static_cast<index_t>(moves.size());
      const matrix_view<T> rows = room(part, count, n);
      column_.recv(std::span<T>(part), p);
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < count; ++i) {
          fresh(moves[static_cast<std::size_t>(i)].top, j) = rows(i, j);
        }
      }
    }
    if (by != nullptr) {
      run_on(workers_, [&] {
        trsm<T>(side::left, triangle::lower, op::none, diagonal::unit, T{1}, *by, fresh);
      });
      copy<T>(fresh, U);
    }
    std::vector<std::vector<T>> answers(static_cast<std::size_t>(column_.size()));
    pending_messages<Communicator> out;  // ends before the answers do, also by an exception
    for (int p = 0; p < column_.size(); ++p) {
      if (p == column_.rank()) continue;
      const auto& moves = how.down(p);
      std::vector<T>& elements = answers[static_cast<std::size_t>(p)];
      const index_t shared = by == nullptr ? 0 : order;
      const auto count = static_cast<index_t>(moves.size());
      const matrix_view<T> answer = room(elements, shared + count, n);
      if (shared != 0) copy<T>(fresh, answer.block(0, 0, shared, n));
      for (index_t j = 0; j < n; ++j) {
        for (index_t i = 0; i < count; ++i) {
          answer(shared + i, j) = old(moves[static_cast<std::size_t>(i)].top, j);
        }
      }
      out.send(column_, std::span<const T>(elements), p);
    }
    copy<T>(fresh, how.top_of(C));
    out.wait();
  }

  void ask(const grid_exchange& how, matrix_view<T> C, bool shares, matrix_view<T> U) {
    const index_t n = C.cols();
    const auto &up = how.up(column_.rank()), &down = how.down(column_.rank());
    std::vector<T> out, in;
    const auto sent = static_cast<index_t>(up.size());
    const matrix_view<T> rows_up = room(out, sent, n);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < sent; ++i) rows_up(i, j) = C(up[static_cast<std::size_t>(i)].row, j);
    }
    if (sent > 0) column_.send(std::span<const T>(out), how.root());
    const auto count = static_cast<index_t>(down.size());
    const index_t shared = shares ? how.order() : 0;
    if (shared + count == 0) return;
    const matrix_view<T> answer = room(in, shared + count, n);
    column_.recv(std::span<T>(in), how.root());
    if (shared != 0) copy<T>(answer.block(0, 0, shared, n), U);
    for (index_t j = 0; j < n; ++j) {
      for (index_t i = 0; i < count; ++i) {
        C(down[static_cast<std::size_t>(i)].row, j) = answer(shared + i, j);
      }
    }
  }

  runtime* workers_;
  grid_line<Communicator> column_;
  std::vector<T> old_memory_, new_memory_;
};

}  // namespace creek::linalg::detail
