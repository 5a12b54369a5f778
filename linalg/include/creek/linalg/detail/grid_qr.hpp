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
  grid_qr(Communicator& all, const grid_view<T>& A)
      : A_(A),
        row_(row_of_grid(all, A.grid())),
        column_(column_of_grid(all, A.grid())),
        reflection_(all, A.grid()) {}

  void factor(T* tau) {
    const index_t steps = std::min(A_.rows().size, A_.cols().size), block = A_.cols().block;
    if (steps == 0) return;
    begin(0, nullptr);
    for (index_t first = 0; first < steps; first += block) {
      finish();
      std::copy_n(now_.tau().data(), now_.order, tau + first);
      const packed_vectors<T> V(now_.V(), false);
      index_t rest = first + now_.order;
      const index_t following = first + block;
      if (following < steps) {
        if (A_.cols().owns(following)) {
          const index_t end = std::min(following + block, A_.cols().size);
          update(V, rest, end);
          rest = end;
        }
        begin(following, nullptr);
      }
      update(V, rest, A_.cols().size);
    }
  }

  /// C = Q C, or Q^H C, with the factors in A and tau.
  void multiply(op how, const T* tau, const grid_view<T>& C) {
    const index_t steps = std::min(A_.rows().size, A_.cols().size), block = A_.cols().block;
    const index_t panels = (steps + block - 1) / block;
    const auto first = [&](index_t k) { return (how == op::none ? panels - 1 - k : k) * block; };
    if (panels != 0) begin(first(0), tau);
    for (index_t k = 0; k < panels; ++k) {
      finish();
      if (k + 1 < panels) begin(first(k + 1), tau);
      const packed_vectors<T> V(now_.V(), false);
      reflection_.apply(now_, V, how, C.local(now_.first, A_.rows().size, 0, C.cols().size),
                        messages_);
    }
  }

 private:
  /// Factors the panel, or takes the one that is already factored if `tau` is not null, and begins
  /// to send it; or begins to receive it.
  void begin(index_t first, const T* tau) {
    grid_reflectors<T>& panel = next_;
    panel.reset(A_, first);
    const int root = A_.cols().owner(first);
    if (root != row_.rank()) {
      return messages_.receive(row_, std::span<T>(panel.elements), root);
    }
    const matrix_view<T> A = A_.local(first, A_.rows().size, first, first + panel.order);
    const bool has_top = A_.rows().owns(first);
    if (tau != nullptr) {
      std::copy_n(tau + first, panel.order, panel.tau().data());
      panel.copy_from(A, has_top);
    } else if (column_.size() == 1) {
      geqrf<T>(A, panel.tau());
      panel.copy_from(A, has_top);
    } else {
      std::vector<T> memory(static_cast<std::size_t>(panel.order * panel.order));
      const matrix_view<T> R(memory.data(), panel.order, panel.order, panel.order);
      copy<T>(A, panel.V());
      grid_qr_panel<Communicator, T>(column_, A_.rows(), first, panel.V(), panel.tau().data())
          .run(R);
      copy<T>(panel.V(), A);
      for (index_t j = 0; has_top && j < panel.order; ++j) {
        std::copy_n(R.column(j), j + 1, A.column(j));
      }
    }
    form_triangle<Communicator, T>(column_, panel.V(), panel.tau().data(), panel.triangle());
    messages_.send_to_all(row_, std::span<const T>(panel.elements));
  }
  /// Waits for the panel that was begun.
  void finish() {
    messages_.wait();
    std::swap(now_, next_);
  }
  /// Updates the local part of the columns [from, to).
  void update(const packed_vectors<T>& V, index_t from, index_t to) {
    reflection_.apply(now_, V, op::conjugate_transpose,
                      A_.local(now_.first, A_.rows().size, from, to), messages_);
  }

  grid_view<T> A_;
  grid_line<Communicator> row_, column_;
  grid_reflection<Communicator, T> reflection_;
  grid_reflectors<T> now_, next_;
  pending_messages<Communicator> messages_;  // of next_, so they end first
};

}  // namespace creek::linalg::detail
