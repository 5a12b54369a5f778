// SPDX-License-Identifier: Apache-2.0
// p?getrf, p?getrs, p?gesv.
#include <algorithm>
#include <span>
#include <vector>

#include <creek/linalg/grids.hpp>

#include "call.hpp"
#include "routine.hpp"
#include "workers.hpp"

namespace creek::scalapack {
namespace {

using linalg::scalar;

/// Rows of sub(A), counted from 0, as ScaLAPACK keeps them: those of a process's local rows, in the
/// place of the row, as rows of A counted from 1.
template <class T>
void put_pivots(const operand<T>& A, const std::vector<index_t>& rows, int ia, int* pivots) {
  const linalg::cyclic_axis& axis = A.view.rows();
  const index_t mine = axis.before(static_cast<index_t>(rows.size()));
  for (index_t i = 0; i < mine; ++i) {
    const index_t row = rows[static_cast<std::size_t>(axis.global(i))];
    pivots[A.row + i] = static_cast<int>(row) + ia;
  }
}
template <class T>
std::vector<index_t> all_pivots(mpi_communicator& ranks, const operand<T>& A, int ia,
                                const int* pivots) {
  const linalg::cyclic_axis& axis = A.view.rows();
  std::vector<index_t> rows(static_cast<std::size_t>(axis.size), -1);
  for (index_t i = 0; i < axis.local_size(); ++i) {
    rows[static_cast<std::size_t>(axis.global(i))] = pivots[A.row + i] - ia;
  }
  ranks.allreduce(std::span<index_t>(rows), [](index_t a, index_t b) { return std::max(a, b); });
  return rows;
}

template <scalar T>
bool getrf(int m, int n, T* a, int ia, int ja, const int* desc, int* pivots, int* info) {
  call here(desc);
  const auto A = here.matrix(m, n, a, ia, ja, desc);
  if (!here.all_agree(A && has_square_blocks(*A))) return false;
  std::vector<index_t> rows(static_cast<std::size_t>(std::min(m, n)));
  *info = static_cast<int>(getrf_on_grid(here.ranks(), A->view, std::span(rows),
                                         workers_for(here, operations_of_lu<T>(m, n))));
  put_pivots(*A, rows, ia, pivots);
  return true;
}

template <scalar T>
bool getrs(char trans, int n, int nrhs, T* a, int ia, int ja, const int* desc_a, const int* pivots,
           T* b, int ib, int jb, const int* desc_b, int* info) {
  call here(desc_a);
  const auto A = here.matrix(n, n, a, ia, ja, desc_a);
  const auto B = here.matrix(n, nrhs, b, ib, jb, desc_b);
  const auto how = to_op(trans);
  here.note(in_upper_case(trans));
  if (!here.all_agree(A && B && how && is_system(*A, *B))) return false;
  const std::vector<index_t> rows = all_pivots(here.ranks(), *A, ia, pivots);
  getrs_on_grid(here.ranks(), *how, A->view, std::span(rows), B->view,
                workers_for(here, operations_of_product<T>(n, n, nrhs)));
  *info = 0;
  return true;
}

template <scalar T>
bool gesv(int n, int nrhs, T* a, int ia, int ja, const int* desc_a, int* pivots, T* b, int ib,
          int jb, const int* desc_b, int* info) {
  call here(desc_a);
  const auto A = here.matrix(n, n, a, ia, ja, desc_a);
  const auto B = here.matrix(n, nrhs, b, ib, jb, desc_b);
  if (!here.all_agree(A && B && is_system(*A, *B))) return false;
  std::vector<index_t> rows(static_cast<std::size_t>(n));
  *info = static_cast<int>(getrf_on_grid(here.ranks(), A->view, std::span(rows),
                                         workers_for(here, operations_of_lu<T>(n, n))));
  put_pivots(*A, rows, ia, pivots);
  if (*info == 0) {
    getrs_on_grid(here.ranks(), linalg::op::none, A->view, std::span<const index_t>(rows), B->view,
                  workers_for(here, operations_of_product<T>(n, n, nrhs)));
  }
  return true;
}

}  // namespace
}  // namespace creek::scalapack

using namespace creek::scalapack;

#define CREEK_GETRF(LETTER, T)                                                     \
  CREEK_SCALAPACK(p##LETTER##getrf_,                                               \
                  (const int* m, const int* n, T* a, const int* ia, const int* ja, \
                   const int* desc, int* pivots, int* info),                       \
                  (m, n, a, ia, ja, desc, pivots, info),                           \
                  getrf(*m, *n, a, *ia, *ja, desc, pivots, info))
#define CREEK_GETRS(LETTER, T)                                                                \
  CREEK_SCALAPACK(                                                                            \
      p##LETTER##getrs_,                                                                      \
      (const char* trans, const int* n, const int* nrhs, T* a, const int* ia, const int* ja,  \
       const int* desc_a, int* pivots, T* b, const int* ib, const int* jb, const int* desc_b, \
       int* info, std::size_t length),                                                        \
      (trans, n, nrhs, a, ia, ja, desc_a, pivots, b, ib, jb, desc_b, info, length),           \
      getrs(*trans, *n, *nrhs, a, *ia, *ja, desc_a, pivots, b, *ib, *jb, desc_b, info))
#define CREEK_GESV(LETTER, T)                                                                \
  CREEK_SCALAPACK(                                                                           \
      p##LETTER##gesv_,                                                                      \
      (const int* n, const int* nrhs, T* a, const int* ia, const int* ja, const int* desc_a, \
       int* pivots, T* b, const int* ib, const int* jb, const int* desc_b, int* info),       \
      (n, nrhs, a, ia, ja, desc_a, pivots, b, ib, jb, desc_b, info),                         \
      gesv(*n, *nrhs, a, *ia, *ja, desc_a, pivots, b, *ib, *jb, desc_b, info))

CREEK_EACH_TYPE(CREEK_GETRF)
CREEK_EACH_TYPE(CREEK_GETRS)
CREEK_EACH_TYPE(CREEK_GESV)
