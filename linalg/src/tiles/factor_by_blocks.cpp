// SPDX-License-Identifier: Apache-2.0
// Factorizations and inverses of matrices of tiles. Each is the loop of its derivation; the graph
// decides the order in which tiles are processed.
#include <creek/linalg/by_blocks.hpp>
#include <creek/linalg/partition.hpp>

#include "checks.hpp"
#include "tile_factors.hpp"
#include "tile_tasks.hpp"

namespace creek::linalg {
namespace detail {
namespace {

// Priorities: diagonal tasks are the critical chain, the solves with their result come next.
constexpr int on_diagonal = 2;
constexpr int beside_diagonal = 1;

/// Enqueues a task on diagonal tile k, which may report info.
template <scalar T, class Factor>
void enqueue_on_diagonal(const tile_tasks& to, const char* name, double products, tile_view<T> A11,
                         index_t k, graph_info& info, const Factor& factor_tile) {
  const matrix_view<T> tile = A11.tile();
  const index_t before = k * A11.tile_size();
  to.urgent(on_diagonal).add(name, flops_of<T>(products), {inout_whole(tile)}, [=, &info] {
    const index_t place = factor_tile(tile);
    if (place != 0) info.report(before + place);
  });
}

/// Cholesky. Step k of the lower triangle; the upper one has U = L^H, by the same steps:
///   A(k, k) = L(k, k) L(k, k)^H                           potrf
///   L(i, k) = A(i, k) L(k, k)^-H     for i > k            trsm
///   A(i, j) -= L(i, k) L(j, k)^H     for i >= j > k       herk, gemm
template <scalar T>
void enqueue_potrf(const tile_tasks& to, triangle stored, tile_view<T> A, graph_info& info) {
  constexpr op hermitian = op::conjugate_transpose;
  const tile_tasks beside = to.urgent(beside_diagonal);
  for (index_t k = 0; k < steps(A); ++k) {
    const auto [A00, A01, A02, A10, A11, A12, A20, A21, A22] = partition(A, k);
    enqueue_on_diagonal(to, "potrf", cube(A11.rows()) / 6, A11, k, info,
                        [stored](matrix_view<T> tile) { return potrf_here(stored, tile); });
    if (stored == triangle::lower) {
      enqueue_tile_trsm<T>(beside, side::right, stored, hermitian, diagonal::stored, T{1},
                           A11.tile(), A21);
      enqueue_herk<T>(to, stored, op::none, -1, A21, 1, A22);
    } else {
      enqueue_tile_trsm<T>(beside, side::left, stored, hermitian, diagonal::stored, T{1},
                           A11.tile(), A12);
      enqueue_herk<T>(to, stored, hermitian, -1, A12, 1, A22);
    }
  }
}

/// LU without pivoting. Step k:
///   A(k, k) = L(k, k) U(k, k)                             getrf
///   U(k, j) = L(k, k)^-1 A(k, j)     for j > k            trsm
///   L(i, k) = A(i, k) U(k, k)^-1     for i > k            trsm
///   A(i, j) -= L(i, k) U(k, j)       for i > k, j > k     gemm
template <scalar T>
void enqueue_getrf_nopiv(const tile_tasks& to, tile_view<T> A, graph_info& info) {
  const tile_tasks beside = to.urgent(beside_diagonal);
  for (index_t k = 0; k < steps(A); ++k) {
    const auto [A00, A01, A02, A10, A11, A12, A20, A21, A22] = partition(A, k);
    const index_t order = std::min(A11.rows(), A11.cols());
    enqueue_on_diagonal(to, "getrf", cube(order) / 3, A11, k, info,
                        [](matrix_view<T> tile) { return getrf_nopiv_here(tile); });
    const const_view<T> LU11 = A11.tile().block(0, 0, order, order);
    enqueue_tile_trsm<T>(beside, side::left, triangle::lower, op::none, diagonal::unit, T{1}, LU11,
                         A12);
    enqueue_tile_trsm<T>(beside, side::right, triangle::upper, op::none, diagonal::stored, T{1},
                         LU11, A21);
    enqueue_product<T>(
        to, {.name = "gemm", .alpha = T{-1}, .a = {A21}, .b = {A12}, .beta = T{1}, .C = A22});
  }
}

/// Inverse of a triangle. Step k of a lower one, L; the upper one has the transposed steps:
///   A(i, k) = -L(i, k) L(k, k)^-1    for i > k            trsm
///   A(i, j) += A(i, k) A(k, j)       for i > k > j        gemm
///   A(k, j) = L(k, k)^-1 A(k, j)     for j < k            trsm
///   A(k, k) = L(k, k)^-1                                  trtri
/// Tasks check all tiles, even after a zero was found, so that the first zero is reported.
template <scalar T>
void enqueue_trtri(const tile_tasks& to, triangle stored, diagonal ones, tile_view<T> A,
                   graph_info& info) {
  const tile_tasks beside = to.urgent(beside_diagonal);
  const auto solve = [&](side where, T alpha, const_view<T> A11, tile_view<T> B) {
    enqueue_tile_trsm<T>(beside, where, stored, op::none, ones, alpha, A11, B);
  };
  const auto add_product = [&](const_tile_view<T> a, const_tile_view<T> b, tile_view<T> C) {
    enqueue_product<T>(to,
                       {.name = "gemm", .alpha = T{1}, .a = {a}, .b = {b}, .beta = T{1}, .C = C});
  };
  for (index_t k = 0; k < steps(A); ++k) {
    const auto [A00, A01, A02, A10, A11, A12, A20, A21, A22] = partition(A, k);
    if (stored == triangle::lower) {
      solve(side::right, T{-1}, A11.tile(), A21);
      add_product(A21, A10, A20);
      solve(side::left, T{1}, A11.tile(), A10);
    } else {
      solve(side::left, T{-1}, A11.tile(), A12);
      add_product(A01, A12, A02);
      solve(side::right, T{1}, A11.tile(), A01);
    }
    enqueue_on_diagonal(
        to, "trtri", cube(A11.rows()) / 6, A11, k, info,
        [stored, ones](matrix_view<T> tile) { return trtri_here(stored, ones, tile); });
  }
}

/// Replaces L by L^H L, or U by U U^H. Step k of a lower triangle:
///   A(i, j) += L(k, i)^H L(k, j)     for j <= i < k       herk, gemm
///   A(k, j) = L(k, k)^H L(k, j)      for j < k            trmm
///   A(k, k) = L(k, k)^H L(k, k)                           lauum
template <scalar T>
void enqueue_lauum(const tile_tasks& to, triangle stored, tile_view<T> A) {
  constexpr op hermitian = op::conjugate_transpose;
  for (index_t k = 0; k < steps(A); ++k) {
    const auto [A00, A01, A02, A10, A11, A12, A20, A21, A22] = partition(A, k);
    if (stored == triangle::lower) {
      enqueue_herk<T>(to, stored, hermitian, 1, A10, 1, A00);
      enqueue_trmm<T>(to, side::left, stored, hermitian, diagonal::stored, T{1}, A11, A10);
    } else {
      enqueue_herk<T>(to, stored, op::none, 1, A01, 1, A00);
      enqueue_trmm<T>(to, side::right, stored, hermitian, diagonal::stored, T{1}, A11, A01);
    }
    const matrix_view<T> tile = A11.tile();
    to.add("lauum", flops_of<T>(cube(tile.rows()) / 6), {inout_whole(tile)},
           [=] { lauum_here(stored, tile); });
  }
}

template <scalar T>
void enqueue_potrs(const tile_tasks& to, triangle stored, const_tile_view<T> factor,
                   tile_view<T> B) {
  const bool lower = stored == triangle::lower;
  const op first = lower ? op::none : op::conjugate_transpose;
  const op second = lower ? op::conjugate_transpose : op::none;
  enqueue_trsm<T>(to, side::left, stored, first, diagonal::stored, T{1}, factor, B);
  enqueue_trsm<T>(to, side::left, stored, second, diagonal::stored, T{1}, factor, B);
}

template <scalar T>
void enqueue_getrs_nopiv(const tile_tasks& to, op how, const_tile_view<T> LU, tile_view<T> B) {
  const auto solve = [&](triangle stored, diagonal ones) {
    enqueue_trsm<T>(to, side::left, stored, how, ones, T{1}, LU, B);
  };
  if (how == op::none) {
    solve(triangle::lower, diagonal::unit);
    solve(triangle::upper, diagonal::stored);
  } else {
    solve(triangle::upper, diagonal::stored);
    solve(triangle::lower, diagonal::unit);
  }
}

template <scalar T>
void check_system(const char* routine, const_tile_view<T> A, const_tile_view<T> B) {
  require(A.rows() == A.cols() && A.rows() == B.rows(), routine,
          "A must be square, and B have as many rows");
  require(A.empty() || B.empty() || A.tile_size() == B.tile_size(), routine,
          "A and B must have the same tile size");
}

template <scalar T>
void check_square(const char* routine, const_tile_view<T> A) {
  require(A.rows() == A.cols(), routine, "A must be square");
}

}  // namespace
}  // namespace detail

using namespace detail;

template <scalar T>
void potrf(task_graph& graph, triangle stored, tile_view<T> A, graph_info& info) {
  check_square<T>("potrf", A);
  enqueue_potrf(tile_tasks(graph, &info), stored, A, info);
}

template <scalar T>
void potrs(task_graph& graph, triangle stored, tile_input<T> factor, tile_view<T> B) {
  check_system<T>("potrs", factor, B);
  enqueue_potrs<T>(tile_tasks(graph), stored, factor, B);
}

template <scalar T>
void posv(task_graph& graph, triangle stored, tile_view<T> A, tile_view<T> B, graph_info& info) {
  check_system<T>("posv", A, B);
  const tile_tasks to(graph, &info);
  enqueue_potrf(to, stored, A, info);
  enqueue_potrs<T>(to, stored, A, B);
}

template <scalar T>
void getrf_nopiv(task_graph& graph, tile_view<T> A, graph_info& info) {
  enqueue_getrf_nopiv(tile_tasks(graph, &info), A, info);
}

template <scalar T>
void getrs_nopiv(task_graph& graph, op how, tile_input<T> LU, tile_view<T> B) {
  check_system<T>("getrs_nopiv", LU, B);
  enqueue_getrs_nopiv<T>(tile_tasks(graph), how, LU, B);
}

template <scalar T>
void gesv_nopiv(task_graph& graph, tile_view<T> A, tile_view<T> B, graph_info& info) {
  check_system<T>("gesv_nopiv", A, B);
  const tile_tasks to(graph, &info);
  enqueue_getrf_nopiv(to, A, info);
  enqueue_getrs_nopiv<T>(to, op::none, A, B);
}

template <scalar T>
void trtri(task_graph& graph, triangle stored, diagonal ones, tile_view<T> A, graph_info& info) {
  check_square<T>("trtri", A);
  enqueue_trtri(tile_tasks(graph), stored, ones, A, info);
}

template <scalar T>
void potri(task_graph& graph, triangle stored, tile_view<T> A, graph_info& info) {
  check_square<T>("potri", A);
  enqueue_trtri(tile_tasks(graph), stored, diagonal::stored, A, info);
  enqueue_lauum(tile_tasks(graph), stored, A);
}

template <scalar T>
index_t trtri(triangle stored, diagonal ones, tile_view<T> A) {
  check_square<T>("trtri", A);
  if (ones == diagonal::stored) {
    if (const index_t zero = zero_on_tile_diagonal<T>(A)) return zero;
  }
  graph_info info;
  task_graph graph;
  trtri(graph, stored, ones, A, info);
  graph.wait();
  return info.value();
}

template <scalar T>
index_t potri(triangle stored, tile_view<T> A) {
  check_square<T>("potri", A);
  if (const index_t zero = zero_on_tile_diagonal<T>(A)) return zero;
  graph_info info;
  task_graph graph;
  potri(graph, stored, A, info);
  graph.wait();
  return info.value();
}

#define CREEK_INSTANTIATE(letter, T)                                                     \
  template void potrf<T>(task_graph&, triangle, tile_view<T>, graph_info&);              \
  template void potrs<T>(task_graph&, triangle, const_tile_view<T>, tile_view<T>);       \
  template void posv<T>(task_graph&, triangle, tile_view<T>, tile_view<T>, graph_info&); \
  template void getrf_nopiv<T>(task_graph&, tile_view<T>, graph_info&);                  \
  template void getrs_nopiv<T>(task_graph&, op, const_tile_view<T>, tile_view<T>);       \
  template void gesv_nopiv<T>(task_graph&, tile_view<T>, tile_view<T>, graph_info&);     \
  template void trtri<T>(task_graph&, triangle, diagonal, tile_view<T>, graph_info&);    \
  template void potri<T>(task_graph&, triangle, tile_view<T>, graph_info&);              \
  template index_t trtri<T>(triangle, diagonal, tile_view<T>);                           \
  template index_t potri<T>(triangle, tile_view<T>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
