// SPDX-License-Identifier: Apache-2.0
// Operations on matrices of tiles as tasks, used by by_blocks.hpp and the factorizations. They do
// not check shapes.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <creek/linalg/graph_info.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/linalg/tile_matrix.hpp>

#include "graph/moved_block.hpp"
#include "kernels/packing.hpp"
#include "kernels/product.hpp"
#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

/// Returns the flops of `products` multiplications of elements and as many additions.
template <scalar T>
double flops_of(double products) noexcept {
  return (is_complex<T> ? 8 : 2) * products;
}
inline double cube(index_t n) noexcept {
  const auto x = static_cast<double>(n);
  return x * x * x;
}

/// Returns zero_on_diagonal() of a matrix in tiles.
template <scalar T>
index_t zero_on_tile_diagonal(const_tile_view<T> tiles) noexcept {
  const index_t steps = std::min(tiles.tile_rows(), tiles.tile_cols());
  for (index_t k = 0; k < steps; ++k) {
    const index_t zero = zero_on_diagonal<T>(tiles.tile(k, k));
    if (zero != 0) return k * tiles.tile_size() + zero;
  }
  return 0;
}

/// Graph and settings for the tasks of an operation.
class tile_tasks {
 public:
  /// With `stop`: once info was reported there, tasks of the operation do nothing.
  explicit tile_tasks(task_graph& graph, const graph_info* stop = nullptr) noexcept
      : graph_(&graph), stop_(stop) {}

  /// Returns a copy for tasks on the critical path, with a higher priority.
  tile_tasks urgent(int priority) const noexcept {
    tile_tasks other = *this;
    other.priority_ = priority;
    return other;
  }

  template <class Body>
  void add(const char* name, double flops, std::initializer_list<operand> operands,
           Body body) const {
    graph_->add({name, flops, priority_}, operands, [stop = stop_, body = std::move(body)] {
      if (stop == nullptr || stop->value() == 0) body();
    });
  }

 private:
  task_graph* graph_;
  const graph_info* stop_;
  int priority_ = 0;
};

/// op(A), or a symmetric or Hermitian A with one stored triangle, as a matrix of tiles.
template <scalar T>
struct tile_operand {
  const_tile_view<T> tiles;
  op how = op::none;
  structure shape = structure::general;
  bool stored_low = false;

  index_t tile_rows() const noexcept {
    return how == op::none ? tiles.tile_rows() : tiles.tile_cols();
  }
  index_t tile_cols() const noexcept {
    return how == op::none ? tiles.tile_cols() : tiles.tile_rows();
  }
  /// Returns the tile in memory that tile (i, j) is derived from.
  const_view<T> stored(index_t i, index_t j) const noexcept {
    return is_mirrored(i, j) ? tiles.tile(j, i) : tiles.tile(i, j);
  }
  /// Returns the columns of tile (i, j).
  index_t width(index_t i, index_t j) const noexcept {
    return is_mirrored(i, j) ? stored(i, j).rows() : stored(i, j).cols();
  }
  strided<T> elements(index_t i, index_t j) const noexcept;

 private:
  bool is_mirrored(index_t i, index_t j) const noexcept {
    if (shape == structure::general) return how != op::none;
    return i != j && (i > j) != stored_low;
  }
};

/// C = beta C + alpha a b, only the part `which` of C.
template <scalar T>
struct tile_product {
  const char* name;  ///< name of tasks on tiles with structure; others are "gemm"
  T alpha;
  tile_operand<T> a, b;
  T beta;
  tile_view<T> C;
  part which = part::all;
  bool real_before = false;  ///< make the imaginary parts of C's diagonal zero first
  bool real_after = false;   ///< ... and at the end
};

/// Enqueues one task per tile of C and step of the depth. The first task that needs an operand's
/// tile packs it, the last one frees it: memory for one row and one column of tiles, times the
/// number of steps under way.
template <scalar T>
void enqueue_product(const tile_tasks& to, const tile_product<T>& what);

/// Enqueues C = beta C, where 0 times anything is 0, also NaN.
template <scalar T>
void enqueue_scale(const tile_tasks& to, T beta, tile_view<T> C, part which = part::all);

/// Enqueues herk.
template <scalar T>
void enqueue_herk(const tile_tasks& to, triangle stored, op how, real<T> alpha,
                  const_tile_view<T> A, real<T> beta, tile_view<T> C);

/// Enqueues B = alpha op(A)^-1 B or alpha B op(A)^-1 for a triangle A that is (in) one tile, one
/// task per tile of B.
template <scalar T>
void enqueue_tile_trsm(const tile_tasks& to, side where, triangle stored, op how, diagonal ones,
                       T alpha, const_view<T> A, tile_view<T> B);

/// Enqueues trsm and trmm.
template <scalar T>
void enqueue_trsm(const tile_tasks& to, side where, triangle stored, op how, diagonal ones, T alpha,
                  const_tile_view<T> A, tile_view<T> B);
template <scalar T>
void enqueue_trmm(const tile_tasks& to, side where, triangle stored, op how, diagonal ones, T alpha,
                  const_tile_view<T> A, tile_view<T> B);

}  // namespace creek::linalg::detail
