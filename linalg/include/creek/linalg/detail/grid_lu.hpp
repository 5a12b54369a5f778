// SPDX-License-Identifier: Apache-2.0
// LU with partial pivoting on a grid of processes: the processes of a column of the grid factor a
// panel; each sends its part along its row; then rows are exchanged within the columns of the grid,
// one message a pair and panel, and each process updates its part. The next panel is updated and
// factored first, and its messages are under way while the rest is updated.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <creek/linalg/detail/grid_exchange.hpp>
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

template <class Communicator, scalar T>
class grid_lu {
 public:
  grid_lu(Communicator& all, const grid_view<T>& A, index_t* pivots, runtime* workers)
      : A_(A),
        pivots_(pivots),
        workers_(workers),
        row_(row_of_grid(all, A.grid())),
        column_(column_of_grid(all, A.grid())),
        rows_(all, A.grid(), workers) {}

  index_t run() {
    const index_t steps = std::min(A_.rows().size, A_.cols().size), block = A_.cols().block;
    if (steps == 0) return 0;
    next_ = std::make_unique<grid_panel<T>>(A_, 0);
    if (is_root() && rows_.are_here()) run_on(workers_, [&] { factor_here(); });
    pass_on();
    for (index_t first = 0; first < steps; first += block) {
      messages_.wait();
      const std::unique_ptr<grid_panel<T>> panel = std::move(next_);
      note(*panel);
      if (first + block < steps) next_ = std::make_unique<grid_panel<T>>(A_, first + block);
      update(*panel);
    }
    messages_.wait();
    exchange_left();
    return info_;
  }

 private:
  bool is_root() const noexcept { return A_.cols().owner(next_->first) == row_.rank(); }
  matrix_view<T> columns_of_next() const noexcept {
    return A_.local(next_->first, A_.rows().size, next_->first, next_->first + next_->order);
  }

  /// Factors the next panel if all of its rows are here; workers may do so.
  void factor_here() {
    grid_panel<T>& panel = *next_;
    const matrix_view<T> A = columns_of_next();
    panel.info() =
        getrf<T>(A, std::span<index_t>(panel.pivots(), static_cast<std::size_t>(panel.order)));
    for (index_t i = 0; i < panel.order; ++i) panel.pivots()[i] += panel.first;
    copy<T>(A.block(0, 0, panel.order, panel.order), panel.top());
    copy_left(A);
  }
  void copy_left(matrix_view<T> A) {
    copy<T>(A.block(A.rows() - next_->below, 0, next_->below, next_->order), next_->left());
  }
  /// Begins to send the next panel, which is factored first if its rows are at several processes;
  /// or begins to receive it.
  void pass_on() {
    grid_panel<T>& panel = *next_;
    if (!is_root()) {
      const int root = A_.cols().owner(panel.first);
      messages_.receive(row_, std::span<index_t>(panel.numbers), root);
      messages_.receive(row_, std::span<T>(panel.elements), root);
      return;
    }
    if (!rows_.are_here()) {
      const matrix_view<T> A = columns_of_next();
      panel.info() = grid_lu_panel<Communicator, T>(column_, A_.rows(), panel.first, A, panel.top(),
                                                    panel.pivots())
                         .run();
      copy_left(A);
    }
    messages_.send_to_all(row_, std::span<const index_t>(panel.numbers));
    messages_.send_to_all(row_, std::span<const T>(panel.elements));
  }
  void note(grid_panel<T>& panel) {
    if (info_ == 0 && panel.info() != 0) info_ = panel.info() + panel.first;
    std::copy_n(panel.pivots(), panel.order, pivots_ + panel.first);
    exchanges_.emplace_back(A_.rows(), panel.first, panel.order, panel.pivots());
  }

  /// Updates the columns after a panel. Those of the next panel come first, and it is factored and
  /// sent while the others are updated.
  void update(grid_panel<T>& panel) {
    const index_t from = panel.first + panel.order;
    const matrix_view<T> C = A_.local(0, A_.rows().size, from, A_.cols().size);
    const matrix_view<T> U = rows_.room(new_memory_, panel.order, C.cols());
    const matrix_view<T> old =
        rows_.room(old_memory_, rows_.are_here() ? panel.order : 0, C.cols());
    const const_view<T> triangle = panel.top();
    if (!rows_.are_here()) rows_.exchange(exchanges_.back(), C, &triangle, U);
    const auto update_strip = [&](index_t j, index_t n) {
      const matrix_view<T> strip = C.columns(j, n), top = U.columns(j, n);
      if (rows_.are_here()) exchange_here(triangle, strip, old.columns(j, n), top);
      gemm<T>(op::none, op::none, T{-1}, panel.left(), top, T{1},
              strip.block(C.rows() - panel.below, 0, panel.below, n));
    };
    const bool leads = next_ != nullptr && is_root();
    const index_t first_cols = leads ? std::min(A_.cols().block, C.cols()) : 0;
    grid_job leading(workers_, leads ? 1 : 0, [&](index_t) {
      update_strip(0, first_cols);
      if (rows_.are_here()) factor_here();
    });
    constexpr index_t width = 256;
    const index_t others = C.cols() - first_cols;
    grid_job rest(workers_, strips_of(others, width), [&](index_t i) {
      update_strip(first_cols + i * width, std::min(width, others - i * width));
    });
    leading.finish();
    if (next_ != nullptr) pass_on();
    rest.finish([&] { return messages_.push(); });
  }
  void exchange_here(const_view<T> triangle, matrix_view<T> C, matrix_view<T> old,
                     matrix_view<T> U) const {
    const grid_exchange& exchange = exchanges_.back();
    exchange.take_here(C, old, U);
    trsm<T>(side::left, triangle::lower, op::none, diagonal::unit, T{1}, triangle, U);
    copy<T>(U, exchange.top_of(C));
  }
  /// Exchanges rows of the columns of panels by the pivots of later ones.
  void exchange_left() {
    const index_t block = A_.cols().block;
    const index_t last = (static_cast<index_t>(exchanges_.size()) - 1) * block;
    rows_.exchange_all(exchanges_, A_.local(0, A_.rows().size, 0, last), block,
                       [&](index_t strip) { return A_.cols().global(strip * block) / block + 1; });
  }

  grid_view<T> A_;
  index_t* pivots_;
  runtime* workers_;
  grid_line<Communicator> row_, column_;
  grid_rows<Communicator, T> rows_;
  std::vector<grid_exchange> exchanges_;  // by panel
  std::unique_ptr<grid_panel<T>> next_;
  pending_messages<Communicator> messages_;  // of next_, so it ends first
  std::vector<T> old_memory_, new_memory_;
  index_t info_ = 0;
};

}  // namespace creek::linalg::detail
