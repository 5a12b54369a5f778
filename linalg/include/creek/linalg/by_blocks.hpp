// SPDX-License-Identifier: Apache-2.0
// Algorithms by blocks: level 3 BLAS, Cholesky, LU without pivoting and inverses of matrices of
// tiles, as tasks on tiles.
//
// Each routine has two forms. The form with a graph only enqueues its tasks: routines that follow
// each other in one graph overlap as far as their data allows, without a barrier between them; with
// graph_options::dry_run no task runs. Tiles and graph_info must live until the graph's wait()
// returns; info is valid from then on. The form without a graph creates one, waits, and returns its
// info.
//
// Arguments and results are those of blas3.hpp, cholesky.hpp and inverse.hpp. All matrices of a
// routine have the same tile size. Throws usage_error for other tile sizes or shapes, before
// anything is enqueued. A task runs in one thread. Products pack each tile once for all tasks that
// use it, in memory of about two columns of tiles per step under way.
//
// The algorithms are those that SuperMatrix runs by blocks.
// Source: [Quintana-Orti 2009].
#pragma once

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/graph_info.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/linalg/tile_matrix.hpp>

namespace creek::linalg {

/// Argument from which T is not deduced.
template <class T>
using tile_input = const_tile_view<std::type_identity_t<T>>;

/// @name Level 3 of the BLAS
/// Tasks are named after the routine on tiles with structure, "gemm" on others.
/// @{
template <scalar T>
void gemm(task_graph& graph, op how_a, op how_b, factor<T> alpha, tile_input<T> A, tile_input<T> B,
          factor<T> beta, tile_view<T> C);
template <scalar T>
void symm(task_graph& graph, side where, triangle stored, factor<T> alpha, tile_input<T> A,
          tile_input<T> B, factor<T> beta, tile_view<T> C);
template <scalar T>
void hemm(task_graph& graph, side where, triangle stored, factor<T> alpha, tile_input<T> A,
          tile_input<T> B, factor<T> beta, tile_view<T> C);
template <scalar T>
void syrk(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
          factor<T> beta, tile_view<T> C);
template <scalar T>
void herk(task_graph& graph, triangle stored, op how, real<T> alpha, tile_input<T> A, real<T> beta,
          tile_view<T> C);
template <scalar T>
void syr2k(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
           tile_input<T> B, factor<T> beta, tile_view<T> C);
template <scalar T>
void her2k(task_graph& graph, triangle stored, op how, factor<T> alpha, tile_input<T> A,
           tile_input<T> B, real<T> beta, tile_view<T> C);
template <scalar T>
void trmm(task_graph& graph, side where, triangle stored, op how, diagonal ones, factor<T> alpha,
          tile_input<T> A, tile_view<T> B);
template <scalar T>
void trsm(task_graph& graph, side where, triangle stored, op how, diagonal ones, factor<T> alpha,
          tile_input<T> A, tile_view<T> B);
/// @}

/// A = L L^H or U^H U, like potrf of cholesky.hpp. Once info is known not to be 0, the routine's
/// remaining tasks do nothing.
template <scalar T>
void potrf(task_graph& graph, triangle stored, tile_view<T> A, graph_info& info);

/// Solves A X = B with the result of potrf; B becomes X.
template <scalar T>
void potrs(task_graph& graph, triangle stored, tile_input<T> factor, tile_view<T> B);

/// Does potrf, then potrs. If info is not 0, the contents of B are undefined.
template <scalar T>
void posv(task_graph& graph, triangle stored, tile_view<T> A, tile_view<T> B, graph_info& info);

/// A = L U without row exchanges, A is m x n: for matrices known not to need pivoting, such as
/// diagonally dominant ones. A becomes L (below the diagonal; its ones are not stored) and U. info:
/// 1-based index of the first pivot that is exactly zero; the factorization ends there.
template <scalar T>
void getrf_nopiv(task_graph& graph, tile_view<T> A, graph_info& info);

/// Solves op(A) X = B with the result of getrf_nopiv of a square A; B becomes X.
template <scalar T>
void getrs_nopiv(task_graph& graph, op how, tile_input<T> LU, tile_view<T> B);

/// Does getrf_nopiv, then getrs_nopiv. If info is not 0, the contents of B are undefined.
template <scalar T>
void gesv_nopiv(task_graph& graph, tile_view<T> A, tile_view<T> B, graph_info& info);

/// Replaces a triangle by its inverse. If info is not 0, its contents are undefined: only the form
/// without a graph looks for zeros first, and then leaves the triangle unchanged.
template <scalar T>
void trtri(task_graph& graph, triangle stored, diagonal ones, tile_view<T> A, graph_info& info);

/// Replaces the result of potrf by that triangle of the inverse of A. info as for trtri.
template <scalar T>
void potri(task_graph& graph, triangle stored, tile_view<T> A, graph_info& info);

/// @name Without a graph
/// @{
template <scalar T>
void gemm(op how_a, op how_b, factor<T> alpha, tile_input<T> A, tile_input<T> B, factor<T> beta,
          tile_view<T> C) {
  task_graph graph;
  gemm(graph, how_a, how_b, alpha, A, B, beta, C);
  graph.wait();
}
template <scalar T>
void symm(side where, triangle stored, factor<T> alpha, tile_input<T> A, tile_input<T> B,
          factor<T> beta, tile_view<T> C) {
  task_graph graph;
  symm(graph, where, stored, alpha, A, B, beta, C);
  graph.wait();
}
template <scalar T>
void hemm(side where, triangle stored, factor<T> alpha, tile_input<T> A, tile_input<T> B,
          factor<T> beta, tile_view<T> C) {
  task_graph graph;
  hemm(graph, where, stored, alpha, A, B, beta, C);
  graph.wait();
}
template <scalar T>
void syrk(triangle stored, op how, factor<T> alpha, tile_input<T> A, factor<T> beta,
          tile_view<T> C) {
  task_graph graph;
  syrk(graph, stored, how, alpha, A, beta, C);
  graph.wait();
}
template <scalar T>
void herk(triangle stored, op how, real<T> alpha, tile_input<T> A, real<T> beta, tile_view<T> C) {
  task_graph graph;
  herk(graph, stored, how, alpha, A, beta, C);
  graph.wait();
}
template <scalar T>
void syr2k(triangle stored, op how, factor<T> alpha, tile_input<T> A, tile_input<T> B,
           factor<T> beta, tile_view<T> C) {
  task_graph graph;
  syr2k(graph, stored, how, alpha, A, B, beta, C);
  graph.wait();
}
template <scalar T>
void her2k(triangle stored, op how, factor<T> alpha, tile_input<T> A, tile_input<T> B, real<T> beta,
           tile_view<T> C) {
  task_graph graph;
  her2k(graph, stored, how, alpha, A, B, beta, C);
  graph.wait();
}
template <scalar T>
void trmm(side where, triangle stored, op how, diagonal ones, factor<T> alpha, tile_input<T> A,
          tile_view<T> B) {
  task_graph graph;
  trmm(graph, where, stored, how, ones, alpha, A, B);
  graph.wait();
}
template <scalar T>
void trsm(side where, triangle stored, op how, diagonal ones, factor<T> alpha, tile_input<T> A,
          tile_view<T> B) {
  task_graph graph;
  trsm(graph, where, stored, how, ones, alpha, A, B);
  graph.wait();
}
template <scalar T>
[[nodiscard]] index_t potrf(triangle stored, tile_view<T> A) {
  graph_info info;
  task_graph graph;
  potrf(graph, stored, A, info);
  graph.wait();
  return info.value();
}
template <scalar T>
void potrs(triangle stored, tile_input<T> factor, tile_view<T> B) {
  task_graph graph;
  potrs(graph, stored, factor, B);
  graph.wait();
}
template <scalar T>
[[nodiscard]] index_t posv(triangle stored, tile_view<T> A, tile_view<T> B) {
  graph_info info;
  task_graph graph;
  posv(graph, stored, A, B, info);
  graph.wait();
  return info.value();
}
template <scalar T>
[[nodiscard]] index_t getrf_nopiv(tile_view<T> A) {
  graph_info info;
  task_graph graph;
  getrf_nopiv(graph, A, info);
  graph.wait();
  return info.value();
}
template <scalar T>
void getrs_nopiv(op how, tile_input<T> LU, tile_view<T> B) {
  task_graph graph;
  getrs_nopiv(graph, how, LU, B);
  graph.wait();
}
template <scalar T>
[[nodiscard]] index_t gesv_nopiv(tile_view<T> A, tile_view<T> B) {
  graph_info info;
  task_graph graph;
  gesv_nopiv(graph, A, B, info);
  graph.wait();
  return info.value();
}
template <scalar T>
[[nodiscard]] index_t trtri(triangle stored, diagonal ones, tile_view<T> A);
template <scalar T>
[[nodiscard]] index_t potri(triangle stored, tile_view<T> A);
/// @}

}  // namespace creek::linalg
