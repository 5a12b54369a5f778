// SPDX-License-Identifier: Apache-2.0
// Triangular systems on a grid of processes. Block columns of the triangle are sent along the rows
// of the grid ahead of their use. Without a transposition the solution of a block goes down the
// columns of the grid and is subtracted from the rest, the next block first. With one each process
// sums up its part for a block, and the sums go to the process that has the block.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/detail/grid_job.hpp>
#include <creek/linalg/detail/grid_line.hpp>

namespace creek::linalg::detail {

template <class Communicator, scalar T>
class grid_solve {
 public:
  /// The rows of B are distributed as those of the square M, whose blocks are square.
  grid_solve(Communicator& all, const grid_view<T>& M, const grid_view<T>& B, runtime* workers)
      : M_(M),
        B_(B),
        workers_(workers),
        row_(row_of_grid(all, M.grid())),
        column_(column_of_grid(all, M.grid())) {}

  /// Solves op(M) X = B, where M is the triangle `stored`; B becomes X.
  void run(triangle stored, op how, diagonal ones) {
    stored_ = stored;
    how_ = how;
    ones_ = ones;
    if (M_.rows().size == 0 || B_.cols().size == 0) return;
    fetch(0);
    fetch(1);
    how == op::none ? subtract_solutions() : collect_sums();
    for (panel& each : panels_) each.messages.wait();
    for (part& each : parts_) each.messages.wait();
  }

 private:
  struct range {
    index_t from, to;
  };
  /// Block column of the triangle, as a row of the grid has it.
  struct panel {
    std::vector<T> elements;
    matrix_view<T> diagonal_block, others;
    range rows{};  ///< of the matrix, of which `others` has the local ones
    pending_messages<Communicator> messages;
  };
  /// Rows of X, or sums for them, on their way in a column of the grid.
  struct part {
    std::vector<T> elements;
    matrix_view<T> view;
    pending_messages<Communicator> messages;
  };

  bool lower() const noexcept { return stored_ == triangle::lower; }
  bool ascending() const noexcept { return lower() == (how_ == op::none); }
  index_t steps() const noexcept { return M_.rows().blocks(); }
  range block(index_t step) const noexcept {
    const index_t first = (ascending() ? step : steps() - 1 - step) * M_.rows().block;
    return {first, std::min(first + M_.rows().block, M_.rows().size)};
  }
  /// Rows of the blocks before a step, and after it.
  range solved(index_t step) const noexcept {
    return ascending() ? range{0, block(step).from} : range{block(step).to, M_.rows().size};
  }
  range unsolved(index_t step) const noexcept {
    return ascending() ? range{block(step).to, M_.rows().size} : range{0, block(step).from};
  }
  bool owns(index_t step) const noexcept { return M_.rows().owns(block(step).from); }
  index_t local_rows(range of, int process) const noexcept {
    return M_.rows().before(of.to, process) - M_.rows().before(of.from, process);
  }
  matrix_view<T> rows_of_b(range of) const noexcept {
    return B_.local(of.from, of.to, 0, B_.cols().size);
  }
  panel& panel_of(index_t step) noexcept {
    return panels_[static_cast<std::size_t>(step) % panels_.size()];
  }
  part& part_of(index_t step) noexcept {
    return parts_[static_cast<std::size_t>(step) % parts_.size()];
  }

  /// Begins to send or to receive the panel of a step, if there is such a step.
  void fetch(index_t step) {
    if (step >= steps()) return;
    panel& p = panel_of(step);
    p.messages.wait();
    const range at = block(step);
    p.rows = lower() ? range{at.to, M_.rows().size} : range{0, at.from};
    const matrix_view<T> D = M_.local(at.from, at.to, at.from, at.to);
    const matrix_view<T> E = M_.local(p.rows.from, p.rows.to, at.from, at.to);
    if (row_.size() == 1) {
      p.diagonal_block = D;
      p.others = E;
      return;
    }
    const index_t order = at.to - at.from;
    p.elements.resize(static_cast<std::size_t>((D.rows() + E.rows()) * order));
    p.diagonal_block = {p.elements.data(), D.rows(), order, std::max<index_t>(1, D.rows())};
    p.others = {p.elements.data() + D.rows() * order, E.rows(), order,
                std::max<index_t>(1, E.rows())};
    const int root = M_.cols().owner(at.from);
    if (row_.rank() != root) return p.messages.receive(row_, std::span<T>(p.elements), root);
    copy<T>(D, p.diagonal_block);
    copy<T>(E, p.others);
    p.messages.send_to_all(row_, std::span<const T>(p.elements));
  }
  /// Waits for the panel of a step. A sender may use it while it is under way.
  panel& arrived(index_t step) {
    panel& p = panel_of(step);
    if (!M_.cols().owns(block(step).from)) p.messages.wait();
    return p;
  }
  matrix_view<T> rows_of_panel(const panel& p, range of) const noexcept {
    return p.others.block(local_rows({p.rows.from, of.from}, column_.rank()), 0,
                          local_rows(of, column_.rank()), p.others.cols());
  }
  matrix_view<T> room(part& p, index_t step) const {
    const index_t order = block(step).to - block(step).from, n = B_.cols().local_size();
    p.elements.resize(static_cast<std::size_t>(order * n));
    return p.view = {p.elements.data(), order, n, order};
  }
  /// C = beta C - op(L) X, in strips between which messages are pushed.
  void multiply(matrix_view<T> L, matrix_view<T> X, T beta, matrix_view<T> C) {
    if (L.empty()) return;
    constexpr index_t width = 512;
    grid_job job(workers_, strips_of(C.cols(), width), [&](index_t i) {
      gemm<T>(how_, op::none, T{-1}, L, strip_of(X, i, width), beta, strip_of(C, i, width));
    });
    job.finish([&] {
      bool any = received_.messages.push();
      for (panel& each : panels_) any = each.messages.push() || any;
      for (part& each : parts_) any = each.messages.push() || any;
      return any;
    });
  }
  void solve(index_t step) {
    const matrix_view<T> X = rows_of_b(block(step));
    if (X.empty()) return;
    const matrix_view<T> D = arrived(step).diagonal_block;
    run_on(workers_, [&] { trsm<T>(side::left, stored_, how_, ones_, T{1}, D, X); });
  }

  void subtract_solutions() {
    begin_solution(0);
    for (index_t step = 0; step < steps(); ++step) {
      const panel& p = arrived(step);
      part& X = part_of(step);
      if (!owns(step)) X.messages.wait();
      fetch(step + 2);
      if (step + 1 == steps()) return;
      const range next = block(step + 1), rest = unsolved(step + 1);
      multiply(rows_of_panel(p, next), X.view, T{1}, rows_of_b(next));
      begin_solution(step + 1);
      multiply(rows_of_panel(p, rest), X.view, T{1}, rows_of_b(rest));
    }
  }
  /// Solves for a block and begins to send the solution, or begins to receive it.
  void begin_solution(index_t step) {
    part& X = part_of(step);
    X.messages.wait();
    if (owns(step)) solve(step);
    if (column_.size() == 1) {
      X.view = rows_of_b(block(step));
      return;
    }
    (void)room(X, step);
    if (!owns(step)) {
      return X.messages.receive(column_, std::span<T>(X.elements),
                                M_.rows().owner(block(step).from));
    }
    copy<T>(rows_of_b(block(step)), X.view);
    X.messages.send_to_all(column_, std::span<const T>(X.elements));
  }

  void collect_sums() {
    for (index_t step = 0; step < steps(); ++step) {
      if (step > 0) add_to_sum(step, block(step - 1));
      if (owns(step)) {
        begin_to_receive(step);
      } else if (has_sum_) {
        part_of(step).messages.send(column_, std::span<const T>(part_of(step).elements),
                                    M_.rows().owner(block(step).from));
      }
      has_sum_ = false;
      fetch(step + 2);
      // The sum for the next block begins without the block of this step, which is not solved yet.
      if (step + 1 < steps()) add_to_sum(step + 1, solved(step));
      if (!owns(step)) continue;
      add_received(rows_of_b(block(step)));
      solve(step);
    }
  }
  /// Subtracts the products with local rows of X from a sum, which is in B at the process that has
  /// the block.
  void add_to_sum(index_t step, range rows) {
    if (local_rows(rows, column_.rank()) == 0) return;
    const matrix_view<T> L = rows_of_panel(arrived(step), rows), X = rows_of_b(rows);
    if (owns(step)) return multiply(L, X, T{1}, rows_of_b(block(step)));
    part& sum = part_of(step);
    if (!has_sum_) sum.messages.wait();
    multiply(L, X, has_sum_ ? T{1} : T{}, has_sum_ ? sum.view : room(sum, step));
    has_sum_ = true;
  }
  void begin_to_receive(index_t step) {
    const matrix_view<T> X = rows_of_b(block(step));
    const auto size = static_cast<std::size_t>(X.rows() * X.cols());
    std::vector<int> senders;
    for (int p = 0; p < column_.size(); ++p) {
      if (p != column_.rank() && local_rows(solved(step), p) > 0) senders.push_back(p);
    }
    received_.elements.resize(size * senders.size());
    for (std::size_t i = 0; i < senders.size(); ++i) {
      received_.messages.receive(column_, std::span<T>(received_.elements).subspan(i * size, size),
                                 senders[i]);
    }
  }
  void add_received(matrix_view<T> X) {
    received_.messages.wait();
    const T* from = received_.elements.data();
    for (const T* const end = from + received_.elements.size(); from != end;) {
      for (index_t j = 0; j < X.cols(); ++j) {
        for (index_t i = 0; i < X.rows(); ++i) X(i, j) += *from++;
      }
    }
  }

  grid_view<T> M_, B_;
  runtime* workers_;
  grid_line<Communicator> row_, column_;
  triangle stored_ = triangle::lower;
  op how_ = op::none;
  diagonal ones_ = diagonal::stored;
  std::array<panel, 3> panels_;
  std::array<part, 2> parts_;
  part received_;
  bool has_sum_ = false;
};

}  // namespace creek::linalg::detail
