// SPDX-License-Identifier: Apache-2.0
// The factors of one step of a product C = op(A) op(B) on a grid of processes: each process gets
// some inner blocks of op(A), for its rows of C, and of op(B), for its columns. Factors that are
// not transposed go along the rows of the grid (A) or down its columns (B). The blocks of a
// transposed one go from where they are to the processes that need them, and to no others.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/detail/grid_line.hpp>

namespace creek::linalg::detail {

/// One factor. It is kept as M has it: gemm() transposes.
template <class Communicator, scalar T>
class grid_operand {
 public:
  /// `needed`: the rows of C for the left factor, its columns for the right one.
  grid_operand(Communicator& all, side where, op how, const grid_view<T>& M,
               const cyclic_axis& needed)
      : M_(M),
        left_(where == side::left),
        transposed_(how != op::none),
        tall_(left_ != transposed_),
        outer_(tall_ ? M.rows() : M.cols()),
        inner_(tall_ ? M.cols() : M.rows()),
        needed_(needed),
        line_(transposed_ ? grid_line<Communicator>(all, all.rank(), all.size(), 0, 1)
              : left_     ? row_of_grid(all, M.grid())
                          : column_of_grid(all, M.grid())) {}

  /// Begins to send and to receive the inner indices [from, to).
  void begin(index_t from, index_t to) {
    from_ = from;
    to_ = to;
    if (in_place()) return;
    parts_.resize(static_cast<std::size_t>(needed_.local_size() * (to - from)));
    each_inner(
        [&](index_t k, index_t end) { transposed_ ? begin_scatter(k, end) : bcast(k, end); });
  }
  [[nodiscard]] bool push() { return messages_.push(); }
  /// Waits for the messages.
  void finish() {
    messages_.wait();
    if (in_place()) return;
    for (const arrival& each : received_) {
      const T* at = each.elements.data();
      each_outer(each.from, needed_.here, [&](index_t c, index_t end) {
        at = unpack(at, part(each.k, each.end, needed_.before(c), end - c));
      });
    }
    received_.clear();
    sent_.clear();
    if (tall_) return;
    whole_.resize(parts_.size());
    each_inner([&](index_t k, index_t end) {
      copy<T>(part(k, end, 0, needed_.local_size()), view().block(k - from_, 0, end - k, n()));
    });
  }
  matrix_view<T> view() {
    if (in_place()) {
      return tall_ ? M_.local(0, outer_.size, from_, to_) : M_.local(from_, to_, 0, outer_.size);
    }
    if (tall_) return {parts_.data(), n(), to_ - from_, std::max<index_t>(1, n())};
    return {whole_.data(), to_ - from_, n(), to_ - from_};
  }

 private:
  /// Blocks of M from one process, one after the other.
  struct arrival {
    index_t k, end;
    int from;  ///< index of the process along outer_
    std::vector<T> elements;
  };

  bool in_place() const noexcept { return line_.size() == 1; }
  index_t n() const noexcept { return needed_.local_size(); }
  template <class F>
  void each_inner(F f) const {
    for (index_t k = from_; k < to_; k += inner_.block) f(k, std::min(k + inner_.block, to_));
  }
  /// Calls f for the outer blocks that process `from` has and process `to` needs.
  template <class F>
  void each_outer(int from, int to, F f) const {
    for (index_t c = 0; c < outer_.size; c += outer_.block) {
      if (outer_.owner(c) == from && needed_.owner(c) == to) {
        f(c, std::min(c + outer_.block, outer_.size));
      }
    }
  }
  index_t count(int from, int to) const {
    index_t sum = 0;
    each_outer(from, to, [&](index_t c, index_t end) { sum += end - c; });
    return sum;
  }
  /// Returns `count` outer indices of an inner block in parts_, where its elements are together.
  matrix_view<T> part(index_t k, index_t end, index_t at, index_t count) {
    T* const data = parts_.data() + (k - from_) * n();
    if (tall_) return {data + at, count, end - k, std::max<index_t>(1, n())};
    return {data + at * (end - k), end - k, count, end - k};
  }
  matrix_view<T> local(index_t c, index_t c_end, index_t k, index_t end) const {
    return tall_ ? M_.local(c, c_end, k, end) : M_.local(k, end, c, c_end);
  }
  static const T* unpack(const T* from, matrix_view<T> to) {
    copy<T>(const_view<T>(from, to.rows(), to.cols(), to.rows()), to);
    return from + to.rows() * to.cols();
  }
  int rank_at(int inner, int outer) const {
    return left_ ? M_.grid().rank_at(inner, outer) : M_.grid().rank_at(outer, inner);
  }

  void bcast(index_t k, index_t end) {
    const matrix_view<T> P = part(k, end, 0, n());
    const std::span<T> elements(P.data(), static_cast<std::size_t>(n() * (end - k)));
    const int root = inner_.owner(k);
    if (line_.rank() != root) return messages_.receive(line_, elements, root);
    copy<T>(local(0, outer_.size, k, end), P);
    messages_.send_to_all(line_, std::span<const T>(elements));
  }
  /// Sends blocks of M to the processes that need them. needed_ and inner_ are along the same
  /// dimension of the grid.
  void begin_scatter(index_t k, index_t end) {
    const int root = inner_.owner(k);
    for (int to = 0; inner_.here == root && to < needed_.processes; ++to) {
      std::vector<T>& out = sent_.emplace_back();
      out.resize(static_cast<std::size_t>(count(outer_.here, to) * (end - k)));
      T* at = out.data();
      each_outer(outer_.here, to, [&](index_t c, index_t c_end) {
        const matrix_view<T> from = local(c, c_end, k, end);
        copy<T>(from, matrix_view<T>(at, from.rows(), from.cols(), from.rows()));
        at += from.rows() * from.cols();
      });
      for (int q = 0; q < outer_.processes; ++q) {
        if (rank_at(to, q) != line_.rank()) {
          messages_.send(line_, std::span<const T>(out), rank_at(to, q));
        }
      }
    }
    for (int from = 0; from < outer_.processes; ++from) {
      if (rank_at(root, from) == line_.rank()) {
        each_outer(from, needed_.here, [&](index_t c, index_t c_end) {
          copy<T>(local(c, c_end, k, end), part(k, end, needed_.before(c), c_end - c));
        });
        continue;
      }
      arrival& in = received_.emplace_back(arrival{k, end, from, {}});
      in.elements.resize(static_cast<std::size_t>(count(from, needed_.here) * (end - k)));
      messages_.receive(line_, std::span<T>(in.elements), rank_at(root, from));
    }
  }

  grid_view<T> M_;
  bool left_, transposed_;
  bool tall_;                           ///< outer indices are rows of M
  cyclic_axis outer_, inner_, needed_;  ///< outer: rows of op(A), columns of op(B)
  grid_line<Communicator> line_;
  index_t from_ = 0, to_ = 0;
  std::vector<T> parts_, whole_;  // whole_: if the inner blocks are blocks of rows
  std::vector<std::vector<T>> sent_;
  std::vector<arrival> received_;
  pending_messages<Communicator> messages_;
};

template <class Communicator, scalar T>
struct grid_factors {
  void begin(index_t from, index_t to) {
    left.begin(from, to);
    right.begin(from, to);
  }
  [[nodiscard]] bool push() {
    const bool any = left.push();
    return right.push() || any;
  }
  void finish() {
    left.finish();
    right.finish();
  }
  grid_operand<Communicator, T> left, right;
};

}  // namespace creek::linalg::detail
