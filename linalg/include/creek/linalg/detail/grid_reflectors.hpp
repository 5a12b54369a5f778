// SPDX-License-Identifier: Apache-2.0
// Block of Householder reflectors, I - V T V^H, whose rows are distributed over the processes of a
// column of a grid, and its product with a matrix that is distributed alike.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <vector>

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/detail/grid_job.hpp>
#include <creek/linalg/detail/grid_line.hpp>
#include <creek/linalg/detail/packed_vectors.hpp>

namespace creek::linalg::detail {

/// Reflectors of one panel as a row of the grid gets them: tau, T, and the local rows of V, with
/// its ones and zeros.
template <scalar T>
struct grid_reflectors {
  /// Takes the sizes of the panel of A that begins at row and column `first`.
  void reset(const grid_view<T>& A, index_t first_row) {
    first = first_row;
    order = std::min({A.cols().block, A.cols().size - first, A.rows().size - first});
    rows = A.rows().local_size() - A.rows().before(first);
    elements.resize(static_cast<std::size_t>((1 + order + rows) * order));
  }
  std::span<T> tau() noexcept { return {elements.data(), static_cast<std::size_t>(order)}; }
  matrix_view<T> triangle() noexcept { return {elements.data() + order, order, order, order}; }
  matrix_view<T> V() noexcept {
    return {elements.data() + (1 + order) * order, rows, order, std::max<index_t>(1, rows)};
  }
  /// Copies V from a factored panel, of which `has_top` says whether R is in its first rows.
  void copy_from(const_view<T> panel, bool has_top) noexcept {
    copy<T>(panel, V());
    for (index_t j = 0; has_top && j < order; ++j) {
      std::fill_n(V().column(j), j, T{});
      V()(j, j) = T{1};
    }
  }

  index_t first = 0, order = 0, rows = 0;
  std::vector<T> elements;
};

/// Makes T of the products G = V^H V, whose upper triangle it replaces. Source: [Schreiber 1989],
/// by halves.
template <scalar T>
void triangle_of_products(const T* tau, matrix_view<T> G) {
  const index_t n = G.cols();
  if (n > 8) {
    const index_t half = n / 2;
    const matrix_view<T> first = G.block(0, 0, half, half),
                         across = G.block(0, half, half, n - half),
                         second = G.block(half, half, n - half, n - half);
    triangle_of_products(tau, first);
    triangle_of_products(tau + half, second);
    trmm<T>(side::left, triangle::upper, op::none, diagonal::stored, T{-1}, first, across);
    trmm<T>(side::right, triangle::upper, op::none, diagonal::stored, T{1}, second, across);
    return;
  }
  for (index_t j = 0; j < n; ++j) {
    T* const column = G.column(j);
    for (index_t i = 0; i < j; ++i) {
      T sum{};
      for (index_t p = i; p < j; ++p) sum += G(i, p) * column[p];
      column[i] = -tau[j] * sum;
    }
    column[j] = tau[j];
  }
}

/// Makes T of the reflectors, at every process of the column.
template <class Communicator, scalar T>
void form_triangle(grid_line<Communicator>& column, const_view<T> V, const T* tau,
                   matrix_view<T> triangle) {
  for (index_t j = 0; j < triangle.cols(); ++j) {
    std::fill_n(triangle.column(j), triangle.rows(), T{});
  }
  herk<T>(triangle::upper, op::conjugate_transpose, real<T>(1), V, real<T>(1), triangle);
  column.allreduce(
      std::span<T>(triangle.data(), static_cast<std::size_t>(triangle.rows() * triangle.cols())),
      std::plus<>{});
  triangle_of_products(tau, triangle);
}

/// Columns of a strip, and of a part of one for a worker; whole tiles of every kernel, so that the
/// results do not depend on the division.
inline constexpr index_t reflected_columns = 192, reflected_part = 48;

/// C = (I - V op(T) V^H) C for rows that are all here, where V is that of `by`.
template <scalar T>
void reflect_here(grid_reflectors<T>& by, const packed_vectors<T>& V, op how, matrix_view<T> C) {
  std::vector<T> memory(static_cast<std::size_t>(by.order * C.cols()));
  const matrix_view<T> W(memory.data(), by.order, C.cols(), by.order);
  V.project(C, W);
  trmm<T>(side::left, triangle::upper, how, diagonal::stored, T{1}, by.triangle(), W);
  V.subtract(W, C);
}

/// Applies blocks of reflectors whose rows are at several processes. The products V^H C of a strip
/// of columns are added up while the next strip is multiplied: each process of the column adds up a
/// part of the columns.
template <class Communicator, scalar T>
class grid_reflection {
 public:
  grid_reflection(Communicator& all, const process_grid& grid, runtime* workers)
      : workers_(workers), column_(column_of_grid(all, grid)) {}

  /// C = (I - V op(T) V^H) C for the local rows of C, where V is that of `by`. Pushes `others`
  /// meanwhile.
  void apply(grid_reflectors<T>& by, const packed_vectors<T>& V, op how, matrix_view<T> C,
             pending_messages<Communicator>& others) {
    constexpr index_t width = reflected_columns;
    const index_t strips = strips_of(C.cols(), width);
    for (index_t s = 0; s < strips + 2; ++s) {
      if (s < strips) begin(at(s), by, V, strip_of(C, s, width), others);
      if (s >= 1 && s <= strips) add_up(at(s - 1), by, how);
      if (s >= 2) finish(at(s - 2), V, others);
    }
  }

 private:
  struct strip {
    matrix_view<T> products() { return {elements.data(), order, C.cols(), order}; }
    index_t order = 0;
    matrix_view<T> C;
    std::vector<T> elements, parts;
    pending_messages<Communicator> messages;  // of the elements and parts, so they end first
  };
  strip& at(index_t s) { return strips_[static_cast<std::size_t>(s) % strips_.size()]; }

  /// The columns of a strip that process p of the column adds up.
  std::span<T> share(strip& now, int p) const {
    const auto begin = [&](int q) { return now.C.cols() * q / column_.size() * now.order; };
    return std::span<T>(now.elements)
        .subspan(static_cast<std::size_t>(begin(p)),
                 static_cast<std::size_t>(begin(p + 1) - begin(p)));
  }
  std::span<T> part(strip& now, int p) const {
    const std::size_t size = share(now, column_.rank()).size();
    return std::span<T>(now.parts).subspan(static_cast<std::size_t>(p) * size, size);
  }
  template <class F>
  void each_other(F f) const {
    for (int p = 0; p < column_.size(); ++p) {
      if (p != column_.rank()) f(p);
    }
  }

  /// Calls f for parts of the strip's columns, on the workers.
  template <class F>
  void each_part(strip& now, pending_messages<Communicator>& others, F f) {
    const index_t width = workers_ == nullptr ? reflected_columns : reflected_part;
    const matrix_view<T> products = now.products();
    grid_job job(workers_, strips_of(now.C.cols(), width),
                 [&](index_t i) { f(strip_of(now.C, i, width), strip_of(products, i, width)); });
    job.finish([&] {
      bool any = others.push();
      for (strip& each : strips_) any = each.messages.push() || any;
      return any;
    });
  }

  void begin(strip& now, grid_reflectors<T>& by, const packed_vectors<T>& V, matrix_view<T> C,
             pending_messages<Communicator>& others) {
    now.order = by.order;
    now.C = C;
    now.elements.assign(static_cast<std::size_t>(by.order * C.cols()), T{});
    each_part(now, others, [&](matrix_view<T> from, matrix_view<T> to) { V.project(from, to); });
    now.parts.resize(share(now, column_.rank()).size() * static_cast<std::size_t>(column_.size()));
    each_other([&](int p) { now.messages.receive(column_, part(now, p), p); });
    each_other([&](int p) { now.messages.send(column_, std::span<const T>(share(now, p)), p); });
  }
  /// Adds up this process's share in the order of the processes, multiplies it by op(T), and sends
  /// it to the others.
  void add_up(strip& now, grid_reflectors<T>& by, op how) {
    now.messages.wait();
    const std::span<T> mine = share(now, column_.rank());
    if (column_.size() > 1) {
      std::copy(mine.begin(), mine.end(), part(now, column_.rank()).begin());
      std::fill(mine.begin(), mine.end(), T{});
      for (int p = 0; p < column_.size(); ++p) {
        const std::span<T> from = part(now, p);
        for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += from[i];
      }
    }
    const matrix_view<T> W(mine.data(), by.order, static_cast<index_t>(mine.size()) / by.order,
                           by.order);
    run_on(workers_, [&] {
      trmm<T>(side::left, triangle::upper, how, diagonal::stored, T{1}, by.triangle(), W);
    });
    each_other([&](int p) { now.messages.receive(column_, share(now, p), p); });
    each_other([&](int p) { now.messages.send(column_, std::span<const T>(mine), p); });
  }
  void finish(strip& now, const packed_vectors<T>& V, pending_messages<Communicator>& others) {
    now.messages.wait();
    each_part(now, others, [&](matrix_view<T> C, matrix_view<T> W) { V.subtract(W, C); });
  }

  runtime* workers_;
  grid_line<Communicator> column_;
  std::array<strip, 3> strips_;
};

}  // namespace creek::linalg::detail
