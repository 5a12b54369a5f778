// SPDX-License-Identifier: Apache-2.0
// Level 3 of matrices of tiles: each routine enqueues products or a triangular operation of tiles.
#include <creek/linalg/by_blocks.hpp>

#include "products.hpp"
#include "tiles/tile_tasks.hpp"

namespace creek::linalg {
namespace detail {
namespace {

template <scalar T, class... Views>
void check_tiles(const char* routine, tile_view<T> C, const Views&... others) {
  require(((others.empty() || others.tile_size() == C.tile_size()) && ...), routine,
          "all matrices must have the same tile size");
}

/// Enqueues products of matrices of tiles.
template <scalar T>
struct tile_target {
  using element = T;
  using operand = tile_operand<T>;
  using product = tile_product<T>;

  template <class... Views>
  void check_tiles(const char* routine, tile_view<T> C, const Views&... others) const {
    detail::check_tiles(routine, C, others...);
  }
  void run(const product& what) const { enqueue_product(to, what); }

  tile_tasks to;
};

template <scalar T>
products<tile_target<T>> on_tiles(const tile_tasks& to) {
  return {{to}};
}

}  // namespace

template <scalar T>
void enqueue_herk(const tile_tasks& to, triangle stored, op how, real<T> alpha,
                  const_tile_view<T> A, real<T> beta, tile_view<T> C) {
  on_tiles<T>(to).rank_k(true, stored, how, T{alpha}, A, T{beta}, C);
}

}  // namespace detail

using namespace detail;

template <scalar T>
void gemm(task_graph& graph, op how_a, op how_b, factor<T> alpha, tile_input<T> A, tile_input<T> B,
          factor<T> beta, tile_view<T> C) {
  on_tiles<T>(tile_tasks(graph)).gemm(how_a, how_b, alpha, A, B, beta, C);
}

template <scalar T>
void symm(task_graph& graph, side where, triangle stored, factor<T> alpha, tile_input<T> A,
          tile_input<T> B, factor<T> beta, tile_view<T> C) {
  on_tiles<T>(tile_tasks(graph))
      .structured(structure::symmetric, where, stored, alpha, A, B, beta, C);
}

template <scalar T>
void hemm(task_graph& graph, side where, triangle stored, factor<T> alpha, tile_input<T> A,
          tile_input<T> B, factor<T> beta, tile_view<T> C) {
  on_tiles<T>(tile_tasks(graph))
      .structured(structure::hermitian, where, stored, alpha, A, B, beta, C);
}

template <scalar T>
void syrk(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
          factor<T> beta, tile_view<T> C) {
  on_tiles<T>(tile_tasks(graph)).rank_k(false, stored, how, alpha, A, beta, C);
}

template <scalar T>
void herk(task_graph& graph, triangle stored, op how, real<T> alpha, tile_input<T> A, real<T> beta,
          tile_view<T> C) {
  on_tiles<T>(tile_tasks(graph)).rank_k(true, stored, how, T{alpha}, A, T{beta}, C);
}

template <scalar T>
void syr2k(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
           tile_input<T> B, factor<T> beta, tile_view<T> C) {
  on_tiles<T>(tile_tasks(graph)).rank_2k(false, stored, how, alpha, A, B, beta, C);
}

template <scalar T>
void her2k(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
           tile_input<T> B, real<T> beta, tile_view<T> C) {
  on_tiles<T>(tile_tasks(graph)).rank_2k(true, stored, how, alpha, A, B, T{beta}, C);
}

template <scalar T>
void trmm(task_graph& graph, side where, triangle stored, op how, diagonal ones, factor<T> alpha,
          tile_input<T> A, tile_view<T> B) {
  check_triangle("trmm", where, A, B);
  check_tiles("trmm", B, A);
  enqueue_trmm<T>(tile_tasks(graph), where, stored, how, ones, alpha, A, B);
}

template <scalar T>
void trsm(task_graph& graph, side where, triangle stored, op how, diagonal ones, factor<T> alpha,
          tile_input<T> A, tile_view<T> B) {
  check_triangle("trsm", where, A, B);
  check_tiles("trsm", B, A);
  enqueue_trsm<T>(tile_tasks(graph), where, stored, how, ones, alpha, A, B);
}

#define CREEK_INSTANTIATE(letter, T)                                                               \
  template void gemm<T>(task_graph&, op, op, T, const_tile_view<T>, const_tile_view<T>, T,         \
                        tile_view<T>);                                                             \
  template void symm<T>(task_graph&, side, triangle, T, const_tile_view<T>, const_tile_view<T>, T, \
                        tile_view<T>);                                                             \
  template void hemm<T>(task_graph&, side, triangle, T, const_tile_view<T>, const_tile_view<T>, T, \
                        tile_view<T>);                                                             \
  template void syrk<T>(task_graph&, triangle, op, T, const_tile_view<T>, T, tile_view<T>);        \
  template void herk<T>(task_graph&, triangle, op, real<T>, const_tile_view<T>, real<T>,           \
                        tile_view<T>);                                                             \
  template void syr2k<T>(task_graph&, triangle, op, T, const_tile_view<T>, const_tile_view<T>, T,  \
                         tile_view<T>);                                                            \
  template void her2k<T>(task_graph&, triangle, op, T, const_tile_view<T>, const_tile_view<T>,     \
                         real<T>, tile_view<T>);                                                   \
  template void trmm<T>(task_graph&, side, triangle, op, diagonal, T, const_tile_view<T>,          \
                        tile_view<T>);                                                             \
  template void trsm<T>(task_graph&, side, triangle, op, diagonal, T, const_tile_view<T>,          \
                        tile_view<T>);                                                             \
  template void detail::enqueue_herk<T>(const tile_tasks&, triangle, op, real<T>,                  \
                                        const_tile_view<T>, real<T>, tile_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
