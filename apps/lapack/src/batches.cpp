// SPDX-License-Identifier: Apache-2.0
// The same operation on many matrices, by the names and arguments of MKL: gemm_batch,
// gemm_batch_strided, getrf_batch_strided, getrs_batch_strided.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <creek/linalg/batch.hpp>

#include "exports.hpp"
#include "product_shape.hpp"
#include "workers.hpp"

namespace creek::lapack {
namespace {

using linalg::matrix_batch;

/// Computes the products of a group; `shape` is that of each.
template <scalar T>
void multiply(product_shape shape, blas_int count, T alpha, const matrix_batch<const T>& A,
              const matrix_batch<const T>& B, T beta, const matrix_batch<T>& C) {
  on_workers(cost<T>(shape.flops() * static_cast<double>(count)),
             [&] { linalg::gemm_batch<T>(shape.how_a, shape.how_b, alpha, A, B, beta, C); });
}

template <scalar T>
int gemm_batch_strided(layout order, char how_a, char how_b, blas_int m, blas_int n, blas_int k,
                       T alpha, const T* a, blas_int lda, blas_int stride_a, const T* b,
                       blas_int ldb, blas_int stride_b, T beta, T* c, blas_int ldc,
                       blas_int stride_c, blas_int count) {
  product_shape shape;
  if (const int bad = shape.read(order, how_a, how_b, m, n, k, lda, ldb, ldc)) {
    return bad == 10 ? 11 : bad == 13 ? 15 : bad;
  }
  if (stride_a < 0) return 9;
  if (stride_b < 0) return 12;
  if (stride_c < 0) return 16;
  if (count < 0) return 17;
  if (shape.is_exchanged) {
    std::swap(a, b);
    std::swap(stride_a, stride_b);
  }
  if (shape.is_empty() || count == 0) return 0;
  multiply<T>(shape, count, alpha, {a, stride_a, count, shape.rows_a(), shape.cols_a(), shape.lda},
              {b, stride_b, count, shape.rows_b(), shape.cols_b(), shape.ldb}, beta,
              {c, stride_c, count, shape.m, shape.n, shape.ldc});
  return 0;
}

/// The letters that transpose the operands of a group.
using letters = std::pair<char, char>;

/// Each array has an element for each group, but for those of addresses, which has one for each
/// matrix. `letters_of(g)` returns the letters of group g.
template <scalar T, class Letters>
int gemm_batch(layout order, Letters letters_of, in_int m, in_int n, in_int k, const T* alpha,
               const T* const* a, in_int lda, const T* const* b, in_int ldb, const T* beta,
               T* const* c, in_int ldc, blas_int groups, in_int group_size) {
  if (groups < 0) return 14;
  std::vector<product_shape> shapes(static_cast<std::size_t>(groups));
  for (blas_int g = 0; g < groups; ++g) {
    const letters how = letters_of(g);
    product_shape& shape = shapes[static_cast<std::size_t>(g)];
    if (const int bad =
            shape.read(order, how.first, how.second, m[g], n[g], k[g], lda[g], ldb[g], ldc[g])) {
      return bad;
    }
    if (group_size[g] < 0) return 15;
  }
  for (blas_int g = 0; g < groups; ++g) {
    const product_shape& shape = shapes[static_cast<std::size_t>(g)];
    const blas_int count = group_size[g];
    if (!shape.is_empty() && count > 0) {
      multiply<T>(shape, count, alpha[g],
                  {shape.is_exchanged ? b : a, count, shape.rows_a(), shape.cols_a(), shape.lda},
                  {shape.is_exchanged ? a : b, count, shape.rows_b(), shape.cols_b(), shape.ldb},
                  beta[g], {c, count, shape.m, shape.n, shape.ldc});
    }
    a += count;
    b += count;
    c += count;
  }
  return 0;
}

/// Returns the position of a bad argument, which it notes for all matrices as LAPACK would.
int refuse(int position, blas_int count, blas_int* info) {
  std::fill_n(info, std::max<blas_int>(count, 0), static_cast<blas_int>(-position));
  return position;
}

/// `info` has an element for each matrix.
template <scalar T>
int getrf_batch_strided(blas_int m, blas_int n, T* a, blas_int lda, blas_int stride_a,
                        blas_int* ipiv, blas_int stride_ipiv, blas_int count, blas_int* info) {
  const blas_int each = std::min(m, n);
  if (m < 0) return refuse(1, count, info);
  if (n < 0) return refuse(2, count, info);
  if (!holds(lda, m, n)) return refuse(4, count, info);
  if (stride_a < 0) return refuse(5, count, info);
  if (stride_ipiv < each) return refuse(7, count, info);
  if (count < 0) return refuse(8, count, info);
  std::vector<index_t> pivots(static_cast<std::size_t>(each) * static_cast<std::size_t>(count));
  std::vector<index_t> infos(static_cast<std::size_t>(count));
  on_workers(cost<T>(2.0 / 3 * m * n * each) * static_cast<double>(count), [&] {
    linalg::getrf_batch<T>({a, stride_a, count, m, n, lda}, pivots, infos);
  });
  for (blas_int i = 0; i < count; ++i) {
    info[i] = static_cast<blas_int>(infos[static_cast<std::size_t>(i)]);
    for (blas_int j = 0; j < each; ++j) {
      const index_t pivot = pivots[static_cast<std::size_t>(index_t{i} * each + j)];
      ipiv[index_t{i} * stride_ipiv + j] = static_cast<blas_int>(pivot + 1);
    }
  }
  return 0;
}

template <scalar T>
int getrs_batch_strided(char trans, blas_int n, blas_int nrhs, const T* a, blas_int lda,
                        blas_int stride_a, const blas_int* ipiv, blas_int stride_ipiv, T* b,
                        blas_int ldb, blas_int stride_b, blas_int count, blas_int* info) {
  const auto how = parse_op(trans);
  if (!how) return refuse(1, count, info);
  if (n < 0) return refuse(2, count, info);
  if (nrhs < 0) return refuse(3, count, info);
  if (!holds(lda, n, n)) return refuse(5, count, info);
  if (stride_a < 0) return refuse(6, count, info);
  if (stride_ipiv < n) return refuse(8, count, info);
  if (!holds(ldb, n, nrhs)) return refuse(10, count, info);
  if (stride_b < 0) return refuse(11, count, info);
  if (count < 0) return refuse(12, count, info);
  std::vector<index_t> pivots(static_cast<std::size_t>(n) * static_cast<std::size_t>(count));
  for (blas_int i = 0; i < count; ++i) {
    info[i] = 0;
    for (blas_int j = 0; j < n; ++j) {
      pivots[static_cast<std::size_t>(index_t{i} * n + j)] =
          index_t{ipiv[index_t{i} * stride_ipiv + j]} - 1;
    }
  }
  on_workers(cost<T>(2.0 * n * n * nrhs) * static_cast<double>(count), [&] {
    linalg::getrs_batch<T>(*how, {a, stride_a, count, n, n, lda}, pivots,
                           {b, stride_b, count, n, nrhs, ldb});
  });
  return 0;
}

}  // namespace
}  // namespace creek::lapack

using namespace creek::lapack;

#define CREEK_DEFINE(x, T)                                                                         \
  CREEK_BLAS(                                                                                      \
      x##gemm_batch_strided,                                                                       \
      (const char* how_a, const char* how_b, in_int m, in_int n, in_int k, const T* alpha,         \
       const T* a, in_int lda, in_int stride_a, const T* b, in_int ldb, in_int stride_b,           \
       const T* beta, T* c, in_int ldc, in_int stride_c, in_int count),                            \
      gemm_batch_strided<T>(layout::columns, *how_a, *how_b, *m, *n, *k, *alpha, a, *lda,          \
                            *stride_a, b, *ldb, *stride_b, *beta, c, *ldc, *stride_c, *count))     \
  CREEK_CBLAS(x##gemm_batch_strided,                                                               \
              (int layout_number, int how_a, int how_b, blas_int m, blas_int n, blas_int k,        \
               c_scalar<T> alpha, const T* a, blas_int lda, blas_int stride_a, const T* b,         \
               blas_int ldb, blas_int stride_b, c_scalar<T> beta, T* c, blas_int ldc,              \
               blas_int stride_c, blas_int count),                                                 \
              gemm_batch_strided<T>(order, op_letter(how_a), op_letter(how_b), m, n, k,            \
                                    value_of<T>(alpha), a, lda, stride_a, b, ldb, stride_b,        \
                                    value_of<T>(beta), c, ldc, stride_c, count))                   \
  CREEK_BLAS(x##gemm_batch,                                                                        \
             (const char* how_a, const char* how_b, in_int m, in_int n, in_int k, const T* alpha,  \
              const T* const* a, in_int lda, const T* const* b, in_int ldb, const T* beta,         \
              T* const* c, in_int ldc, in_int groups, in_int group_size),                          \
             gemm_batch<T>(                                                                        \
                 layout::columns, [&](blas_int g) { return letters(how_a[g], how_b[g]); }, m, n,   \
                 k, alpha, a, lda, b, ldb, beta, c, ldc, *groups, group_size))                     \
  CREEK_CBLAS(                                                                                     \
      x##gemm_batch,                                                                               \
      (int layout_number, const int* how_a, const int* how_b, in_int m, in_int n, in_int k,        \
       const T* alpha, const T* const* a, in_int lda, const T* const* b, in_int ldb,               \
       const T* beta, T* const* c, in_int ldc, blas_int groups, in_int group_size),                \
      gemm_batch<T>(                                                                               \
          order, [&](blas_int g) { return letters(op_letter(how_a[g]), op_letter(how_b[g])); }, m, \
          n, k, alpha, a, lda, b, ldb, beta, c, ldc, groups, group_size))                          \
  CREEK_BLAS(x##getrf_batch_strided,                                                               \
             (in_int m, in_int n, T * a, in_int lda, in_int stride_a, blas_int * ipiv,             \
              in_int stride_ipiv, in_int count, blas_int * info),                                  \
             getrf_batch_strided(*m, *n, a, *lda, *stride_a, ipiv, *stride_ipiv, *count, info))    \
  CREEK_BLAS(x##getrs_batch_strided,                                                               \
             (const char* trans, in_int n, in_int nrhs, const T* a, in_int lda, in_int stride_a,   \
              const blas_int* ipiv, in_int stride_ipiv, T* b, in_int ldb, in_int stride_b,         \
              in_int count, blas_int* info),                                                       \
             getrs_batch_strided(*trans, *n, *nrhs, a, *lda, *stride_a, ipiv, *stride_ipiv, b,     \
                                 *ldb, *stride_b, *count, info))
CREEK_FOR_EACH_SCALAR(CREEK_DEFINE)
#undef CREEK_DEFINE
