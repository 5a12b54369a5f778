// SPDX-License-Identifier: Apache-2.0
// p?geqrf.
#include <algorithm>
#include <span>
#include <vector>

#include <creek/linalg/grids.hpp>

#include "call.hpp"
#include "routine.hpp"

namespace creek::scalapack {
namespace {

/// Returns the length of the workspace that ScaLAPACK demands; creek has its own.
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
  geqrf_on_grid(here.ranks(), A->view, std::span<T>(all));
  const linalg::cyclic_axis& cols = A->view.cols();
  for (index_t j = 0; j < cols.before(std::min(m, n)); ++j) {
    tau[A->col + j] = all[static_cast<std::size_t>(cols.global(j))];
  }
  work[0] = T(static_cast<linalg::real<T>>(workspace(*A)));
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

CREEK_EACH_TYPE(CREEK_GEQRF)
