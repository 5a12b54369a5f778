// SPDX-License-Identifier: Apache-2.0
// Operations on many small matrices.
#include <creek/linalg/batch.hpp>

#include <algorithm>

#include <creek/tasking/parallel_for.hpp>

#include "blas3/products.hpp"
#include "checks.hpp"
#include "tiles/tile_factors.hpp"
#include "tiles/tile_tasks.hpp"

namespace creek::linalg {

using namespace detail;

namespace {

/// Calls f(i) for all matrices, several at a time, so that a task has some microseconds of work.
template <class F>
void for_each_matrix(index_t count, double flops, F f) {
  constexpr double flops_per_task = 1e5;
  const auto grain = static_cast<std::size_t>(flops_per_task / std::max(flops, 100.0)) + 1;
  parallel_for(index_t{0}, count, f, {.grain = grain});
}

template <class F, class T>
void check_solve(const char* routine, const matrix_batch<F>& A, const matrix_batch<T>& B) {
  require(A.rows() == A.cols() && A.rows() == B.rows() && A.size() == B.size(), routine,
          "the matrices A must be square, as many as the matrices B, which must have as many rows");
}

void check_pivots(const char* routine, std::size_t given, index_t needed) {
  require(
      static_cast<index_t>(given) >= needed, routine,
      "pivots must have as many places for each matrix as that has rows, or columns where those "
      "are fewer");
}

void check_infos(const char* routine, std::size_t given, index_t needed) {
  require(static_cast<index_t>(given) >= needed, routine,
          "infos must have a place for each matrix");
}

}  // namespace

template <scalar T>
void gemm_batch(op how_a, op how_b, factor<T> alpha,
                const matrix_batch<const std::type_identity_t<T>>& A,
                const matrix_batch<const std::type_identity_t<T>>& B, factor<T> beta,
                const matrix_batch<T>& C) {
  require(A.size() == C.size() && B.size() == C.size(), "gemm_batch",
          "there must be as many matrices A and B as C");
  check_product("gemm_batch", how_a, how_b, A, B, C);
  const double flops = 2.0 * static_cast<double>(C.rows()) * static_cast<double>(C.cols()) *
                       static_cast<double>(cols_of(A, how_a));
  for_each_matrix(C.size(), flops, [&](index_t i) {
    multiply<this_thread, T>(how_a, how_b, alpha, A[i], B[i], beta, C[i]);
  });
}

template <scalar T>
void getrf_batch(const matrix_batch<T>& A, std::span<index_t> pivots, std::span<index_t> infos) {
  const index_t each = std::min(A.rows(), A.cols());
  check_pivots("getrf_batch", pivots.size(), A.size() * each);
  check_infos("getrf_batch", infos.size(), A.size());
  for_each_matrix(A.size(), cube(each), [&](index_t i) {
    infos[static_cast<std::size_t>(i)] = getrf_here(A[i], pivots.data() + i * each);
  });
}

template <scalar T>
void getrs_batch(op how, const matrix_batch<const std::type_identity_t<T>>& LU,
                 std::span<const index_t> pivots, const matrix_batch<T>& B) {
  check_solve("getrs_batch", LU, B);
  const index_t n = LU.rows();
  check_pivots("getrs_batch", pivots.size(), LU.size() * n);
  const double flops =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(B.cols());
  for_each_matrix(B.size(), flops, [&](index_t i) {
    const auto exchanges = pivots.subspan(static_cast<std::size_t>(i * n));
    getrs_here<T>(how, LU[i], exchanges.first(static_cast<std::size_t>(n)), B[i]);
  });
}

template <scalar T>
void gesv_batch(const matrix_batch<T>& A, std::span<index_t> pivots, const matrix_batch<T>& B,
                std::span<index_t> infos) {
  check_solve("gesv_batch", A, B);
  check_infos("gesv_batch", infos.size(), A.size());
  const index_t n = A.rows();
  check_pivots("gesv_batch", pivots.size(), A.size() * n);
  for_each_matrix(A.size(), cube(n), [&](index_t i) {
    const auto here = pivots.subspan(static_cast<std::size_t>(i * n), static_cast<std::size_t>(n));
    index_t& info = infos[static_cast<std::size_t>(i)];
    info = getrf_here(A[i], here.data());
    if (info == 0) getrs_here<T>(op::none, A[i], here, B[i]);
  });
}

template <scalar T>
void potrf_batch(triangle stored, const matrix_batch<T>& A, std::span<index_t> infos) {
  require(A.rows() == A.cols(), "potrf_batch", "the matrices must be square");
  check_infos("potrf_batch", infos.size(), A.size());
  for_each_matrix(A.size(), cube(A.rows()) / 3, [&](index_t i) {
    infos[static_cast<std::size_t>(i)] = potrf_here(stored, A[i]);
  });
}

#define CREEK_INSTANTIATE(letter, T)                                                              \
  template void gemm_batch<T>(op, op, T, const matrix_batch<const T>&,                            \
                              const matrix_batch<const T>&, T, const matrix_batch<T>&);           \
  template void getrf_batch<T>(const matrix_batch<T>&, std::span<index_t>, std::span<index_t>);   \
  template void getrs_batch<T>(op, const matrix_batch<const T>&, std::span<const index_t>,        \
                               const matrix_batch<T>&);                                           \
  template void gesv_batch<T>(const matrix_batch<T>&, std::span<index_t>, const matrix_batch<T>&, \
                              std::span<index_t>);                                                \
  template void potrf_batch<T>(triangle, const matrix_batch<T>&, std::span<index_t>);
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg
