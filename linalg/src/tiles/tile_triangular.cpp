// SPDX-License-Identifier: Apache-2.0
// Triangular solve and product of matrices of tiles. Both go along the diagonal, in opposite
// directions: a solve subtracts a solved block from the rest, a product adds an unmultiplied one.
#include <creek/linalg/partition.hpp>

#include "blas3/level3.hpp"
#include "tile_tasks.hpp"

namespace creek::linalg::detail {
namespace {

/// Step along the diagonal of op(A).
template <scalar T>
struct triangular_step {
  const_view<T> diagonal_tile;
  tile_view<T> here;       // the block of B at the same position
  tile_view<T> rest;       // blocks of B that a solve updates next
  const_tile_view<T> tie;  // the blocks of A between the two
};

template <scalar T>
class triangular_steps {
 public:
  triangular_steps(side where, triangle stored, op how, const_tile_view<T> A, tile_view<T> B)
      : on_left_(where == side::left),
        plain_(how == op::none),
        forwards_(((stored == triangle::lower) == plain_) == on_left_),
        A_(A),
        B_(B) {}

  index_t count() const noexcept { return steps(A_); }
  /// Returns step s of a solve; a product goes through them backwards.
  triangular_step<T> operator()(index_t s) const noexcept {
    const index_t k = forwards_ ? s : count() - 1 - s;
    const auto a = partition(A_, k);
    const auto b = on_left_ ? partition_rows(B_, k) : partition_cols(B_, k);
    const bool below = on_left_ == plain_;
    return {a.A11.tile(), b.A1, forwards_ ? b.A2 : b.A0,
            below ? (forwards_ ? a.A21 : a.A01) : (forwards_ ? a.A12 : a.A10)};
  }
  /// rest = beta rest + alpha op(tie) here, or alpha here op(tie) from the right.
  void update(const tile_tasks& to, op how, const triangular_step<T>& step, T alpha, T beta) const {
    const tile_operand<T> tie{step.tie, how}, here{step.here};
    enqueue_product<T>(to, {.name = "gemm",
                            .alpha = alpha,
                            .a = on_left_ ? tie : here,
                            .b = on_left_ ? here : tie,
                            .beta = beta,
                            .C = step.rest});
  }

 private:
  bool on_left_, plain_, forwards_;
  const_tile_view<T> A_;
  tile_view<T> B_;
};

/// Enqueues one task per tile of B, which applies op(A) or its inverse.
template <scalar T, class Apply>
void enqueue_for_each(const tile_tasks& to, const char* name, const_view<T> A, tile_view<T> B,
                      const Apply& apply) {
  for (index_t j = 0; j < B.tile_cols(); ++j) {
    for (index_t i = 0; i < B.tile_rows(); ++i) {
      const matrix_view<T> tile = B.tile(i, j);
      const double products =
          static_cast<double>(tile.rows()) * static_cast<double>(tile.cols() * A.rows()) / 2;
      to.add(name, flops_of<T>(products), {in_whole(A), inout_whole(tile)},
             [=] { apply(A, tile); });
    }
  }
}

}  // namespace

template <scalar T>
void enqueue_tile_trsm(const tile_tasks& to, side where, triangle stored, op how, diagonal ones,
                       T alpha, const_view<T> A, tile_view<T> B) {
  enqueue_for_each(to, "trsm", A, B, [=](const_view<T> a, matrix_view<T> b) {
    trsm_by<this_thread, T>(where, stored, how, ones, alpha, a, b);
  });
}

template <scalar T>
void enqueue_trsm(const tile_tasks& to, side where, triangle stored, op how, diagonal ones, T alpha,
                  const_tile_view<T> A, tile_view<T> B) {
  if (B.empty()) return;
  if (alpha == T{}) return enqueue_scale(to, alpha, B);
  const triangular_steps<T> along(where, stored, how, A, B);
  for (index_t s = 0; s < along.count(); ++s) {
    const triangular_step<T> step = along(s);
    const T first = s == 0 ? alpha : T{1};
    enqueue_tile_trsm(to, where, stored, how, ones, first, step.diagonal_tile, step.here);
    along.update(to, how, step, T{-1}, first);
  }
}

template <scalar T>
void enqueue_trmm(const tile_tasks& to, side where, triangle stored, op how, diagonal ones, T alpha,
                  const_tile_view<T> A, tile_view<T> B) {
  if (B.empty()) return;
  if (alpha == T{}) return enqueue_scale(to, alpha, B);
  const triangular_steps<T> along(where, stored, how, A, B);
  for (index_t s = along.count() - 1; s >= 0; --s) {
    const triangular_step<T> step = along(s);
    along.update(to, how, step, alpha, T{1});
    enqueue_for_each(to, "trmm", step.diagonal_tile, step.here,
                     [=](const_view<T> a, matrix_view<T> b) {
                       trmm_by<this_thread, T>(where, stored, how, ones, alpha, a, b);
                     });
  }
}

#define CREEK_INSTANTIATE(letter, T)                                                     \
  template void enqueue_tile_trsm<T>(const tile_tasks&, side, triangle, op, diagonal, T, \
                                     const_view<T>, tile_view<T>);                       \
  template void enqueue_trsm<T>(const tile_tasks&, side, triangle, op, diagonal, T,      \
                                const_tile_view<T>, tile_view<T>);                       \
  template void enqueue_trmm<T>(const tile_tasks&, side, triangle, op, diagonal, T,      \
                                const_tile_view<T>, tile_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
