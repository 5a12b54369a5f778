// SPDX-License-Identifier: Apache-2.0
// Algorithms by blocks: level 3 of the BLAS, Cholesky, LU without pivoting and inverses of matrices
// of tiles, as tasks on tiles.
//
// Each routine has two forms. With a graph it only enqueues its tasks: routines that follow each
// other in one graph overlap wherever their data lets them, without a barrier between them, and
// with graph_options::dry_run nothing is run at all. Tiles and graph_info have to live until the
// graph's wait() has returned; what was found out is read then. Without a graph a routine makes
// one, waits, and returns its info.
//
// Arguments and results as in blas3.hpp, cholesky.hpp and inverse.hpp. All matrices of a routine
// have the same tile size; otherwise, and for shapes that do not fit, usage_error before anything
// is enqueued. A task runs in one thread. Products pack each tile once for all tasks that use it,
// in memory of about two columns of tiles for each step under way.
//
// The algorithms are those that SuperMatrix runs by blocks.
// Source: [Quintana-Orti 2009].
#pragma once

#include <creek/linalg/blas3.hpp>
#include <creek/linalg/graph_info.hpp>
#include <creek/linalg/task_graph.hpp>
#include <creek/linalg/tile_matrix.hpp>

namespace creek::linalg {

/// An argument that takes no part in finding out T.
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

/// A = L L^H or U^H U as potrf of cholesky.hpp. Once info is known not to be 0, tasks of the
/// routine do nothing any more.
template <scalar T>
void potrf(task_graph& graph, triangle stored, tile_view<T> A, graph_info& info);

/// Solves A X = B with the result of potrf; B becomes X.
template <scalar T>
void potrs(task_graph& graph, triangle stored, tile_input<T> factor, tile_view<T> B);

/// Both. Where info is not 0, B may hold anything.
template <scalar T>
void posv(task_graph& graph, triangle stored, tile_view<T> A, tile_view<T> B, graph_info& info);

/// A = L U for A of m x n without exchanges: for matrices that are known not to need them, such as
/// diagonally dominant ones. A becomes L (below the diagonal, whose ones are not stored) and U.
/// info: the place of the first pivot that is exactly zero, at which the factorization ends.
template <scalar T>
void getrf_nopiv(task_graph& graph, tile_view<T> A, graph_info& info);

/// Solves op(A) X = B with the result of getrf_nopiv of a square A; B becomes X.
template <scalar T>
void getrs_nopiv(task_graph& graph, op how, tile_input<T> LU, tile_view<T> B);

/// Both. Where info is not 0, B may hold anything.
template <scalar T>
void gesv_nopiv(task_graph& graph, tile_view<T> A, tile_view<T> B, graph_info& info);

/// A triangle becomes its inverse. Where info is not 0, it may hold anything: only the form without
/// a graph looks for zeros first, and leaves it as it was.
template <scalar T>
void trtri(task_graph& graph, triangle stored, diagonal ones, tile_view<T> A, graph_info& info);

/// The result of potrf becomes that triangle of the inverse. info as of trtri.
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
index_t potrf(triangle stored, tile_view<T> A) {
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
index_t posv(triangle stored, tile_view<T> A, tile_view<T> B) {
  graph_info info;
  task_graph graph;
  posv(graph, stored, A, B, info);
  graph.wait();
  return info.value();
}
template <scalar T>
index_t getrf_nopiv(tile_view<T> A) {
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
index_t gesv_nopiv(tile_view<T> A, tile_view<T> B) {
  graph_info info;
  task_graph graph;
  gesv_nopiv(graph, A, B, info);
  graph.wait();
  return info.value();
}
template <scalar T>
index_t trtri(triangle stored, diagonal ones, tile_view<T> A);
template <scalar T>
index_t potri(triangle stored, tile_view<T> A);
/// @}

}  // namespace creek::linalg
