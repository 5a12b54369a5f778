// SPDX-License-Identifier: Apache-2.0
// Level 3 of matrices of tiles: each routine passes its operands to the product or the triangular
// operation of tiles.
#include <creek/linalg/by_blocks.hpp>

#include "checks.hpp"
#include "tile_tasks.hpp"

namespace creek::linalg {
namespace detail {
namespace {

constexpr const char* same_tiles = "all matrices must have the same tile size";

template <class... Views>
void require_same_tiles(const char* routine, index_t tile_size, const Views&... views) {
  require(((views.empty() || views.tile_size() == tile_size) && ...), routine, same_tiles);
}

template <scalar T>
void enqueue_structured(const char* routine, task_graph& graph, structure shape, side where,
                        triangle stored, T alpha, const_tile_view<T> A, const_tile_view<T> B,
                        T beta, tile_view<T> C) {
  const index_t order = where == side::left ? C.rows() : C.cols();
  require(A.rows() == order && A.cols() == order, routine,
          "A must be square, of the order of the rows (left) or columns (right) of C");
  require(B.rows() == C.rows() && B.cols() == C.cols(), routine,
          "B and C must have the same shape");
  require_same_tiles(routine, C.tile_size(), A, B);
  const tile_operand<T> a{A, op::none, shape, stored == triangle::lower}, b{B};
  const bool left = where == side::left;
  enqueue_product<T>(tile_tasks(graph), {.name = routine,
                                         .alpha = alpha,
                                         .a = left ? a : b,
                                         .b = left ? b : a,
                                         .beta = beta,
                                         .C = C});
}

template <scalar T>
void check_update_of(const char* routine, op how, op wrong, const_tile_view<T> A,
                     const_tile_view<T> B, tile_view<T> C) {
  require(C.rows() == C.cols(), routine, "C must be square");
  require(rows_of(A, how) == C.rows() && A.rows() == B.rows() && A.cols() == B.cols(), routine,
          "op(A) and op(B) must have as many rows as C, and A and B the same shape");
  require(!is_complex<T> || how != wrong, routine,
          wrong == op::transpose ? "of complex numbers: none or conjugate_transpose"
                                 : "of complex numbers: none or transpose");
  require_same_tiles(routine, C.tile_size(), A, B);
}

template <scalar T>
void check_triangle(const char* routine, side where, const_tile_view<T> A, tile_view<T> B) {
  const index_t order = where == side::left ? B.rows() : B.cols();
  require(A.rows() == order && A.cols() == order, routine,
          "A must be square, of the order of the rows (left) or columns (right) of B");
  require_same_tiles(routine, B.tile_size(), A);
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void gemm(task_graph& graph, op how_a, op how_b, factor<T> alpha, tile_input<T> A, tile_input<T> B,
          factor<T> beta, tile_view<T> C) {
  require(rows_of(A, how_a) == C.rows() && cols_of(B, how_b) == C.cols() &&
              rows_of(B, how_b) == cols_of(A, how_a),
          "gemm", "op(A) must be m x k, op(B) k x n and C m x n");
  require_same_tiles("gemm", C.tile_size(), A, B);
  enqueue_product<T>(
      tile_tasks(graph),
      {.name = "gemm", .alpha = alpha, .a = {A, how_a}, .b = {B, how_b}, .beta = beta, .C = C});
}

template <scalar T>
void symm(task_graph& graph, side where, triangle stored, factor<T> alpha, tile_input<T> A,
          tile_input<T> B, factor<T> beta, tile_view<T> C) {
  enqueue_structured<T>("symm", graph, structure::symmetric, where, stored, alpha, A, B, beta, C);
}

template <scalar T>
void hemm(task_graph& graph, side where, triangle stored, factor<T> alpha, tile_input<T> A,
          tile_input<T> B, factor<T> beta, tile_view<T> C) {
  enqueue_structured<T>("hemm", graph, structure::hermitian, where, stored, alpha, A, B, beta, C);
}

template <scalar T>
void syrk(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
          factor<T> beta, tile_view<T> C) {
  check_update_of<T>("syrk", how, op::conjugate_transpose, A, A, C);
  enqueue_product<T>(tile_tasks(graph), {.name = "syrk",
                                         .alpha = alpha,
                                         .a = {A, how},
                                         .b = {A, other(how, false)},
                                         .beta = beta,
                                         .C = C,
                                         .which = part_of(stored)});
}

template <scalar T>
void herk(task_graph& graph, triangle stored, op how, real<T> alpha, tile_input<T> A, real<T> beta,
          tile_view<T> C) {
  check_update_of<T>("herk", how, op::transpose, A, A, C);
  enqueue_herk<T>(tile_tasks(graph), stored, how, alpha, A, beta, C);
}

template <scalar T>
void syr2k(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
           tile_input<T> B, factor<T> beta, tile_view<T> C) {
  check_update_of<T>("syr2k", how, op::conjugate_transpose, A, B, C);
  const op back = other(how, false);
  tile_product<T> product{.name = "syr2k",
                          .alpha = alpha,
                          .a = {A, how},
                          .b = {B, back},
                          .beta = beta,
                          .C = C,
                          .which = part_of(stored)};
  enqueue_product(tile_tasks(graph), product);
  product.a = {B, how};
  product.b = {A, back};
  product.beta = T{1};
  enqueue_product(tile_tasks(graph), product);
}

template <scalar T>
void her2k(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
           tile_input<T> B, real<T> beta, tile_view<T> C) {
  check_update_of<T>("her2k", how, op::transpose, A, B, C);
  const op back = other(how, true);
  tile_product<T> product{.name = "her2k",
                          .alpha = alpha,
                          .a = {A, how},
                          .b = {B, back},
                          .beta = T{beta},
                          .C = C,
                          .which = part_of(stored),
                          .real_before = true};
  enqueue_product(tile_tasks(graph), product);
  if constexpr (is_complex<T>) product.alpha = std::conj(alpha);
  product.a = {B, how};
  product.b = {A, back};
  product.beta = T{1};
  product.real_before = false;
  product.real_after = true;
  enqueue_product(tile_tasks(graph), product);
}

template <scalar T>
void trmm(task_graph& graph, side where, triangle stored, op how, diagonal ones, factor<T> alpha,
          tile_input<T> A, tile_view<T> B) {
  check_triangle<T>("trmm", where, A, B);
  enqueue_trmm<T>(tile_tasks(graph), where, stored, how, ones, alpha, A, B);
}

template <scalar T>
void trsm(task_graph& graph, side where, triangle stored, op how, diagonal ones, factor<T> alpha,
          tile_input<T> A, tile_view<T> B) {
  check_triangle<T>("trsm", where, A, B);
  enqueue_trsm<T>(tile_tasks(graph), where, stored, how, ones, alpha, A, B);
}

template <scalar T>
void detail::enqueue_herk(const tile_tasks& to, triangle stored, op how, real<T> alpha,
                          const_tile_view<T> A, real<T> beta, tile_view<T> C) {
  enqueue_product<T>(to, {.name = "herk",
                          .alpha = T{alpha},
                          .a = {A, how},
                          .b = {A, other(how, true)},
                          .beta = T{beta},
                          .C = C,
                          .which = part_of(stored),
                          .real_before = true,
                          .real_after = true});
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
