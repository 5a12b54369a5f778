// SPDX-License-Identifier: Apache-2.0
// p?potrf.
#include <creek/linalg/grids.hpp>

#include "call.hpp"
#include "routine.hpp"

namespace creek::scalapack {
namespace {

template <linalg::scalar T>
bool potrf(char uplo, int n, T* a, int ia, int ja, const int* desc, int* info) {
  call here(desc);
  const auto A = here.matrix(n, n, a, ia, ja, desc);
  const bool is_lower = uplo == 'L' || uplo == 'l';
  here.note(is_lower ? 0 : 1);
  if (!here.all_agree(A && has_square_blocks(*A) && is_lower)) return false;
  *info = static_cast<int>(potrf_on_grid(here.ranks(), A->view));
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

CREEK_EACH_TYPE(CREEK_POTRF)
