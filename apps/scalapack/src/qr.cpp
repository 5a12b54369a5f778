// SPDX-License-Identifier: Apache-2.0
// p?geqrf, p?ormqr, p?unmqr.
#include <algorithm>
#include <span>
#include <vector>

#include <creek/linalg/grids.hpp>

#include "call.hpp"
#include "routine.hpp"
#include "workers.hpp"

namespace creek::scalapack {
namespace {

/// Returns the length of the workspace that ScaLAPACK demands for QR; creek has its own.
template <class T>
index_t workspace(const operand<T>& A) {
  const index_t block = A.view.cols().block;
  return block * (A.view.rows().local_size() + A.view.cols().local_size() + block);
}

template <linalg::scalar T>
bool geqrf(int m, int n, T* a, int ia, int ja, const int* desc, T* tau, T* work, int lwork,
           int* info) {
  call here(desc);
  const auto A = here.matrix(m, n, a, ia, ja, desc);
  if (!here.all_agree(A && has_square_blocks(*A) && lwork >= workspace(*A))) return false;
  std::vector<T> all(static_cast<std::size_t>(std::min(m, n)));
  geqrf_on_grid(here.ranks(), A->view, std::span<T>(all),
                workers_for(here, 2 * operations_of_lu<T>(m, n)));
  const linalg::cyclic_axis& cols = A->view.cols();
  for (index_t j = 0; j < cols.before(std::min(m, n)); ++j) {
    tau[A->col + j] = all[static_cast<std::size_t>(cols.global(j))];
  }
  work[0] = T(static_cast<linalg::real<T>>(workspace(*A)));
  *info = 0;
  return true;
}

/// The same for products of Q, whose factors are A, and C.
template <class T>
index_t workspace(const operand<T>& A, const operand<T>& C) {
  const index_t block = A.view.cols().block;
  const index_t sides = C.view.rows().local_size() + C.view.cols().local_size();
  return block * std::max((block - 1) / 2 + 1, sides) + block * block;
}

/// Returns the factors of all columns; ScaLAPACK keeps those of its columns at each process.
template <class T>
std::vector<T> all_factors(mpi_communicator& ranks, const operand<T>& A, const T* tau) {
  const linalg::cyclic_axis& cols = A.view.cols();
  std::vector<T> all(static_cast<std::size_t>(cols.size));
  for (index_t j = 0; A.view.grid().row == 0 && j < cols.local_size(); ++j) {
    all[static_cast<std::size_t>(cols.global(j))] = tau[A.col + j];
  }
  ranks.allreduce(std::span<T>(all), [](T a, T b) { return a + b; });
  return all;
}

template <linalg::scalar T>
bool ormqr(char place, char trans, int m, int n, int k, T* a, int ia, int ja, const int* desc_a,
           const T* tau, T* c, int ic, int jc, const int* desc_c, T* work, int lwork, int* info) {
  call here(desc_a);
  const auto A = here.matrix(m, k, a, ia, ja, desc_a);
  const auto C = here.matrix(m, n, c, ic, jc, desc_c);
  const auto how = to_op(trans);
  const auto wrong =
      linalg::is_complex<T> ? linalg::op::transpose : linalg::op::conjugate_transpose;
  for (const char letter : {place, trans}) here.note(in_upper_case(letter));
  if (!here.all_agree(A && C && k <= m && in_upper_case(place) == 'L' && how && *how != wrong &&
                      is_system(*A, *C) && lwork >= workspace(*A, *C))) {
    return false;
  }
  const std::vector<T> all = all_factors(here.ranks(), *A, tau);
  ormqr_on_grid(here.ranks(), *how, A->view, std::span<const T>(all), C->view,
                workers_for(here, 2 * operations_of_product<T>(m, n, k)));
  work[0] = T(static_cast<linalg::real<T>>(workspace(*A, *C)));
  *info = 0;
  return true;
}

}  // namespace
}  // namespace creek::scalapack

using namespace creek::scalapack;

#define CREEK_GEQRF(LETTER, T)                                                     \
  CREEK_SCALAPACK(p##LETTER##geqrf_,                                               \
                  (const int* m, const int* n, T* a, const int* ia, const int* ja, \
                   const int* desc, T* tau, T* work, const int* lwork, int* info), \
                  (m, n, a, ia, ja, desc, tau, work, lwork, info),                 \
                  geqrf(*m, *n, a, *ia, *ja, desc, tau, work, *lwork, info))

#define CREEK_ORMQR(NAME, T)                                                                       \
  CREEK_SCALAPACK(NAME,                                                                            \
                  (const char* place, const char* trans, const int* m, const int* n, const int* k, \
                   T* a, const int* ia, const int* ja, const int* desc_a, const T* tau, T* c,      \
                   const int* ic, const int* jc, const int* desc_c, T* work, const int* lwork,     \
                   int* info, std::size_t first_length, std::size_t second_length),                \
                  (place, trans, m, n, k, a, ia, ja, desc_a, tau, c, ic, jc, desc_c, work, lwork,  \
                   info, first_length, second_length),                                             \
                  ormqr(*place, *trans, *m, *n, *k, a, *ia, *ja, desc_a, tau, c, *ic, *jc, desc_c, \
                        work, *lwork, info))

CREEK_EACH_TYPE(CREEK_GEQRF)
CREEK_ORMQR(psormqr_, float)
CREEK_ORMQR(pdormqr_, double)
CREEK_ORMQR(pcunmqr_, std::complex<float>)
CREEK_ORMQR(pzunmqr_, std::complex<double>)
