// SPDX-License-Identifier: Apache-2.0
// QR on a grid of processes: the processes of a column of the grid factor a panel and form T of its
// reflectors; each sends its part of V, and T, along its row; then each process updates its part.
// The next panel is updated and factored first, and its messages are under way while the rest is
// updated. Products with Q go the same way.
#pragma once

#include <utility>

#include <creek/linalg/detail/grid_qr_panel.hpp>
#include <creek/linalg/qr.hpp>

namespace creek::linalg::detail {

template <class Communicator, scalar T>
class grid_qr {
 public:
  grid_qr(Communicator& all, const grid_view<T>& A, runtime* workers)
      : A_(A),
        workers_(workers),
        row_(row_of_grid(all, A.grid())),
        column_(column_of_grid(all, A.grid())),
        reflection_(all, A.grid(), workers) {}

  void factor(T* tau) {
    const index_t steps = std::min(A_.rows().size, A_.cols().size), block = A_.cols().block;
    if (steps == 0) return;
    next_.reset(A_, 0);
    if (is_root() && is_alone()) run_on(workers_, [&] { factor_here(); });
    pass_on(nullptr);
    for (index_t first = 0; first < steps; first += block) {
      finish();
      std::copy_n(now_.tau().data(), now_.order, tau + first);
      const packed_vectors<T> V(now_.V(), false);
      const bool is_last = first + block >= steps;
      if (!is_last) next_.reset(A_, first + block);
      update(V, is_last);
    }
  }

  /// C = Q C, or Q^H C, with the factors in A and tau.
  void multiply(op how, const T* tau, const grid_view<T>& C) {
    const index_t steps = std::min(A_.rows().size, A_.cols().size), block = A_.cols().block;
    const index_t panels = (steps + block - 1) / block;
    const auto begin = [&](index_t k) {
      next_.reset(A_, (how == op::none ? panels - 1 - k : k) * block);
      pass_on(tau);
    };
    if (panels != 0) begin(0);
    for (index_t k = 0; k < panels; ++k) {
      finish();
      if (k + 1 < panels) begin(k + 1);
      const packed_vectors<T> V(now_.V(), false);
      const matrix_view<T> part = C.local(now_.first, A_.rows().size, 0, C.cols().size);
      if (!is_alone()) {
        reflection_.apply(now_, V, how, part, messages_);
        continue;
      }
      grid_job job(workers_, strips_of(part.cols(), reflected_columns), [&](index_t i) {
        reflect_here(now_, V, how, strip_of(part, i, reflected_columns));
      });
      job.finish([&] { return messages_.push(); });
    }
  }

 private:
  bool is_root() const noexcept { return A_.cols().owner(next_.first) == row_.rank(); }
  /// Returns whether all rows are here.
  bool is_alone() const noexcept { return column_.size() == 1; }
  matrix_view<T> columns_of_next() const noexcept {
    return A_.local(next_.first, A_.rows().size, next_.first, next_.first + next_.order);
  }

  /// Factors the next panel if all of its rows are here; workers may do so.
  void factor_here() {
    geqrf<T>(columns_of_next(), next_.tau());
    next_.copy_from(columns_of_next(), true);
    form_triangle();
  }
  /// Factors the next panel if its rows are at several processes, or takes the one that is factored
  /// already if `tau` is not null, and begins to send it; or begins to receive it.
  void pass_on(const T* tau) {
    grid_reflectors<T>& panel = next_;
    if (!is_root()) {
      const int root = A_.cols().owner(panel.first);
      return messages_.receive(row_, std::span<T>(panel.elements), root);
    }
    const matrix_view<T> A = columns_of_next();
    const bool has_top = A_.rows().owns(panel.first);
    if (tau != nullptr) {
      std::copy_n(tau + panel.first, panel.order, panel.tau().data());
      panel.copy_from(A, has_top);
      form_triangle();
    } else if (!is_alone()) {
      std::vector<T> memory(static_cast<std::size_t>(panel.order * panel.order));
      const matrix_view<T> R(memory.data(), panel.order, panel.order, panel.order);
      copy<T>(A, panel.V());
      grid_qr_panel<Communicator, T>(column_, A_.rows(), panel.first, panel.V(), panel.tau().data())
          .run(R);
      copy<T>(panel.V(), A);
      for (index_t j = 0; has_top && j < panel.order; ++j) {
        std::copy_n(R.column(j), j + 1, A.column(j));
      }
      form_triangle();
    }
    messages_.send_to_all(row_, std::span<const T>(panel.elements));
  }
  void form_triangle() {
    detail::form_triangle<Communicator, T>(column_, next_.V(), next_.tau().data(),
                                           next_.triangle());
  }
  /// Waits for the panel that was begun.
  void finish() {
    messages_.wait();
    std::swap(now_, next_);
  }

  /// Updates the columns after a panel. Those of the next panel come first, and it is factored and
  /// sent while the others are updated.
  void update(const packed_vectors<T>& V, bool is_last) {
    const matrix_view<T> C =
        A_.local(now_.first, A_.rows().size, now_.first + now_.order, A_.cols().size);
    const bool leads = !is_last && is_root();
    const index_t first_cols = leads ? std::min(A_.cols().block, C.cols()) : 0;
    const matrix_view<T> first = C.columns(0, first_cols),
                         others = C.columns(first_cols, C.cols() - first_cols);
    constexpr op how = op::conjugate_transpose;
    if (!is_alone()) {
      reflection_.apply(now_, V, how, first, messages_);
      if (!is_last) pass_on(nullptr);
      return reflection_.apply(now_, V, how, others, messages_);
    }
    grid_job leading(workers_, leads ? 1 : 0, [&](index_t) {
      reflect_here(now_, V, how, first);
      factor_here();
    });
    grid_job rest(workers_, strips_of(others.cols(), reflected_columns), [&](index_t i) {
      reflect_here(now_, V, how, strip_of(others, i, reflected_columns));
    });
    leading.finish();
    if (!is_last) pass_on(nullptr);
    rest.finish([&] { return messages_.push(); });
  }

  grid_view<T> A_;
  runtime* workers_;
  grid_line<Communicator> row_, column_;
  grid_reflection<Communicator, T> reflection_;
  grid_reflectors<T> now_, next_;
  pending_messages<Communicator> messages_;  // of next_, so they end first
};

}  // namespace creek::linalg::detail
