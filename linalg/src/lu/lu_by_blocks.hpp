// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting whose updates are tasks on square blocks: for many workers, or where the
// data of a task has to be moved to it.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <creek/linalg/matrix.hpp>
#include <creek/linalg/task_graph.hpp>

#include "blas3/level3.hpp"
#include "column_factorization.hpp"
#include "graph/moved_block.hpp"
#include "kernels/product.hpp"
#include "kernels/row_exchanges.hpp"
#include "lu_panel.hpp"
#include "tiles/tile_tasks.hpp"

namespace creek::linalg::detail {

/// LU whose updates are tasks on square blocks: SuperMatrix's tasks ([Chan 2008], section 5). Step
/// k:
///   P A(k:m, k) = L(k:m, k) U(k, k)                         add_panel
///   A(k:m, j) = P A(k:m, j), U(k, j) = L(k, k)^-1 A(k, j)   add_update, for each j > k
///   A(i, j) -= L(i, k) U(k, j)                              add_update, for each i > k, j > k
/// and at the end L(k+1:m, j) = P L(k+1:m, j) for all P of later steps (add_exchange).
template <scalar T>
class lu_by_blocks final : column_blocks<T> {
 public:
  /// pivots[0, min(m, n)) become rows of A, counted from 0; a plan needs none.
  lu_by_blocks(matrix_view<T> A, std::span<index_t> pivots, index_t block)
      : column_blocks<T>(A, block), pivots_(pivots.data()) {}

  index_t run(graph_report* report) {
    task_graph graph({.record = report != nullptr});
    add_all(graph);
    graph_report done = graph.wait();
    if (report != nullptr) *report = std::move(done);
    return info_;
  }

  work_graph plan() {
    task_graph graph({.dry_run = true});
    add_all(graph);
    (void)graph.wait();
    return graph.plan();
  }

 private:
  using column_blocks<T>::A_, column_blocks<T>::block_, column_blocks<T>::steps_,
      column_blocks<T>::info_;
  using column_blocks<T>::below, column_blocks<T>::order, column_blocks<T>::first;

  /// Extra priority of panels and of updates that the next panel waits for.
  static constexpr int ahead = 1 << 24;

  index_t down() const { return (A_.rows() + block_ - 1) / block_; }
  matrix_view<T> block(index_t i, index_t j) const {
    return A_.block(i * block_, j * block_, std::min(block_, A_.rows() - i * block_),
                    std::min(block_, A_.cols() - j * block_));
  }
  static double product(index_t a, index_t b, index_t c) noexcept {
    return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
  }
  /// Adds the blocks of column j from row i on as operands; a task moves the share `part` of each.
  void add_column(index_t i, index_t j, double part) {
    for (; i < down(); ++i) {
      const matrix_view<T> each = block(i, j);
      const double bytes = std::min(1.0, part) * static_cast<double>(bytes_of(each));
      operands_.push_back(inout(each.data(), static_cast<std::size_t>(bytes)));
    }
  }

  void add_all(task_graph& graph) {
    const index_t panels = this->panels();
    for (index_t k = 0; k < panels; ++k) {
      add_panel(graph, k, 2 * static_cast<int>(panels - k));
      for (index_t j = k + 1; j < this->blocks(); ++j) {
        add_update(graph, k, j, 2 * static_cast<int>(panels - k) + (j == k + 1 ? ahead : 0));
      }
    }
    for (index_t j = 0; j + 1 < panels; ++j) add_exchange(graph, j);
  }

  void add_panel(task_graph& graph, index_t k, int priority) {
    const matrix_view<T> panel = below(k, k);
    operands_.clear();
    add_column(k, k, 1);
    const index_t n = panel.cols();
    const double products = product(panel.rows(), n, n) / 2 - product(n, n, n) / 6;
    graph.add({"panel", flops_of<T>(products), priority + ahead}, operands_, [this, k, panel] {
      this->note(k, factor_panel_at(first(k), panel, pivots_ + first(k)));
    });
  }

  /// Returns the exchanges of columns [from, to), as rows from `from` on count them.
  row_exchanges exchanges(index_t from, index_t to) const {
    return {pivots_ + from, to - from, A_.rows() - from, from};
  }

  void add_update(task_graph& graph, index_t k, index_t j, int priority) {
    const index_t n = order(k);
    const matrix_view<T> L = block(k, k).block(0, 0, n, n);
    const matrix_view<T> U = block(k, j).block(0, 0, n, block(k, j).cols());
    operands_.assign(1, in_whole(L));
    operands_.push_back(inout_whole(U));
    // A panel exchanges at most one row per column with the blocks below: this share of each.
    add_column(k + 1, j, 1.0 / static_cast<double>(std::max<index_t>(1, down() - k - 1)));
    graph.add({"trsm", flops_of<T>(product(n, n, U.cols()) / 2), priority}, operands_,
              [this, k, j, n, L, U] {
                exchanges(first(k), first(k) + n).apply(below(k, j));
                trsm_by<this_thread, T>(side::left, triangle::lower, op::none, diagonal::unit, T{1},
                                        L, U);
              });
    for (index_t i = k + 1; i < down(); ++i) {
      const matrix_view<T> left = block(i, k).columns(0, n), C = block(i, j);
      graph.add({"gemm", flops_of<T>(product(C.rows(), C.cols(), n)), priority},
                {in_whole(left), in_whole(U), inout_whole(C)}, [left, U, C, n] {
                  multiply_add_here(T{-1}, strided_of<T>(left, op::none),
                                    strided_of<T>(U, op::none), n, C);
                });
    }
  }

  void add_exchange(task_graph& graph, index_t j) {
    operands_.clear();
    for (index_t k = j + 1; k < this->panels(); ++k) operands_.push_back(in(block(k, k).data()));
    add_column(j + 1, j, 1);
    graph.add({"exchange", 0, 0}, operands_,
              [this, j] { exchanges(first(j + 1), steps_).apply(below(j + 1, j)); });
  }

  index_t* pivots_;
  std::vector<operand> operands_;  // operands of the task being added
};

}  // namespace creek::linalg::detail
