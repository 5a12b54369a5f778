// SPDX-License-Identifier: Apache-2.0
// The factors of one step of a product on a grid of processes: some blocks of columns of A, which
// go along the rows of the grid, and the same rows of B, which go down its columns.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/detail/grid_line.hpp>

namespace creek::linalg::detail {

template <class Communicator, scalar T>
class grid_factors {
 public:
  grid_factors(Communicator& all, const grid_view<T>& A, const grid_view<T>& B)
      : A_(A), B_(B), row_(row_of_grid(all, A.grid())), column_(column_of_grid(all, B.grid())) {}

  /// Begins to send and to receive the factors for the inner indices [from, to). A factor that is
  /// whole at this process stays in place.
  void begin(index_t from, index_t to) {
    from_ = from;
    to_ = to;
    if (row_.size() > 1) {
      left_.resize(static_cast<std::size_t>(rows() * (to - from)));
      each_block([&](index_t k, index_t end) {
        const matrix_view<T> L = left_block(k, end);
        if (A_.cols().owns(k)) copy<T>(A_.local(0, A_.rows().size, k, end), L);
        bcast(row_, L, A_.cols().owner(k));
      });
    }
    if (column_.size() > 1) {
      parts_.resize(static_cast<std::size_t>(cols() * (to - from)));
      each_block([&](index_t k, index_t end) {
        const matrix_view<T> R = right_block(k, end);
        if (B_.rows().owns(k)) copy<T>(B_.local(k, end, 0, B_.cols().size), R);
        bcast(column_, R, B_.rows().owner(k));
      });
    }
  }
  void push() { messages_.push(); }
  /// Waits for the messages.
  void finish() {
    messages_.wait();
    if (column_.size() == 1) return;
    right_.resize(parts_.size());
    const index_t depth = to_ - from_;
    each_block([&](index_t k, index_t end) {
      copy<T>(right_block(k, end),
              matrix_view<T>(right_.data() + (k - from_), end - k, cols(), depth));
    });
  }
  matrix_view<T> left() {
    if (row_.size() == 1) return A_.local(0, A_.rows().size, from_, to_);
    return {left_.data(), rows(), to_ - from_, std::max<index_t>(1, rows())};
  }
  matrix_view<T> right() {
    if (column_.size() == 1) return B_.local(from_, to_, 0, B_.cols().size);
    return {right_.data(), to_ - from_, cols(), to_ - from_};
  }

 private:
  index_t rows() const noexcept { return A_.rows().local_size(); }
  index_t cols() const noexcept { return B_.cols().local_size(); }
  template <class F>
  void each_block(F f) {
    const index_t block = A_.cols().block;
    for (index_t k = from_; k < to_; k += block) f(k, std::min(k + block, to_));
  }
  matrix_view<T> left_block(index_t k, index_t end) {
    return {left_.data() + (k - from_) * rows(), rows(), end - k, std::max<index_t>(1, rows())};
  }
  matrix_view<T> right_block(index_t k, index_t end) {
    return {parts_.data() + (k - from_) * cols(), end - k, cols(), end - k};
  }
  void bcast(grid_line<Communicator>& line, matrix_view<T> data, int root) {
    const std::span<T> all(data.data(), static_cast<std::size_t>(data.rows() * data.cols()));
    if (line.rank() != root) return messages_.receive(line, all, root);
    messages_.send_to_all(line, std::span<const T>(all));
  }

  grid_view<T> A_, B_;
  grid_line<Communicator> row_, column_;
  index_t from_ = 0, to_ = 0;
  std::vector<T> left_, right_, parts_;  // parts_: blocks of rows, one after the other
  pending_messages<Communicator> messages_;
};

}  // namespace creek::linalg::detail
