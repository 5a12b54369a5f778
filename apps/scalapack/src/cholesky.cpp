// SPDX-License-Identifier: Apache-2.0
// p?potrf, p?potrs, p?posv.
#include <creek/linalg/grids.hpp>

#include "call.hpp"
#include "routine.hpp"
#include "workers.hpp"

namespace creek::scalapack {
namespace {

using linalg::scalar;

template <scalar T>
bool potrf(char uplo, int n, T* a, int ia, int ja, const int* desc, int* info) {
  call here(desc);
  const auto A = here.matrix(n, n, a, ia, ja, desc);
  const auto stored = to_triangle(uplo);
  here.note(in_upper_case(uplo));
  if (!here.all_agree(A && has_square_blocks(*A) && stored)) return false;
  *info = static_cast<int>(potrf_on_grid(here.ranks(), *stored, A->view,
                                         workers_for(here, operations_of_lu<T>(n, n) / 2)));
  return true;
}

/// potrs, or posv if it `factors`.
template <scalar T>
bool solve(bool factors, char uplo, int n, int nrhs, T* a, int ia, int ja, const int* desc_a, T* b,
           int ib, int jb, const int* desc_b, int* info) {
  call here(desc_a);
  const auto A = here.matrix(n, n, a, ia, ja, desc_a);
  const auto B = here.matrix(n, nrhs, b, ib, jb, desc_b);
  const auto stored = to_triangle(uplo);
  here.note(in_upper_case(uplo));
  if (!here.all_agree(A && B && stored && is_system(*A, *B))) return false;
  *info = factors
              ? static_cast<int>(potrf_on_grid(here.ranks(), *stored, A->view,
                                               workers_for(here, operations_of_lu<T>(n, n) / 2)))
              : 0;
  if (*info == 0) {
    potrs_on_grid(here.ranks(), *stored, A->view, B->view,
                  workers_for(here, operations_of_product<T>(n, n, nrhs)));
  }
  return true;
}

}  // namespace
}  // namespace creek::scalapack

using namespace creek::scalapack;

#define CREEK_POTRF(LETTER, T)                                                         \
  CREEK_SCALAPACK(p##LETTER##potrf_,                                                   \
                  (const char* uplo, const int* n, T* a, const int* ia, const int* ja, \
                   const int* desc, int* info, std::size_t length),                    \
                  (uplo, n, a, ia, ja, desc, info, length),                            \
                  potrf(*uplo, *n, a, *ia, *ja, desc, info))
#define CREEK_SOLVE(NAME, FACTORS, T)                                                       \
  CREEK_SCALAPACK(                                                                          \
      NAME,                                                                                 \
      (const char* uplo, const int* n, const int* nrhs, T* a, const int* ia, const int* ja, \
       const int* desc_a, T* b, const int* ib, const int* jb, const int* desc_b, int* info, \
       std::size_t length),                                                                 \
      (uplo, n, nrhs, a, ia, ja, desc_a, b, ib, jb, desc_b, info, length),                  \
      solve(FACTORS, *uplo, *n, *nrhs, a, *ia, *ja, desc_a, b, *ib, *jb, desc_b, info))
#define CREEK_POTRS(LETTER, T) CREEK_SOLVE(p##LETTER##potrs_, false, T)
#define CREEK_POSV(LETTER, T) CREEK_SOLVE(p##LETTER##posv_, true, T)

CREEK_EACH_TYPE(CREEK_POTRF)
CREEK_EACH_TYPE(CREEK_POTRS)
CREEK_EACH_TYPE(CREEK_POSV)
