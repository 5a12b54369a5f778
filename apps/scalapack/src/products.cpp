// SPDX-License-Identifier: Apache-2.0
// p?gemm.
#include <creek/linalg/grids.hpp>

#include "call.hpp"
#include "routine.hpp"

namespace creek::scalapack {
namespace {

template <linalg::scalar T>
bool gemm(char op_a, char op_b, int m, int n, int k, T alpha, T* a, int ia, int ja,
          const int* desc_a, T* b, int ib, int jb, const int* desc_b, T beta, T* c, int ic, int jc,
          const int* desc_c) {
  call here(desc_c);
  const auto C = here.matrix(m, n, c, ic, jc, desc_c);
  const auto A = here.matrix(m, k, a, ia, ja, desc_a);
  const auto B = here.matrix(k, n, b, ib, jb, desc_b);
  const auto is_plain = [](char op) { return op == 'N' || op == 'n'; };
  const bool are_plain = is_plain(op_a) && is_plain(op_b);
  here.note(are_plain ? 0 : 1);
  if (!here.all_agree(A && B && C && are_plain && same_blocks(A->view.rows(), C->view.rows()) &&
                      same_blocks(B->view.cols(), C->view.cols()) &&
                      A->view.cols().block == B->view.rows().block)) {
    return false;
  }
  gemm_on_grid<mpi_communicator, T>(here.ranks(), alpha, A->view, B->view, beta, C->view);
  return true;
}

}  // namespace
}  // namespace creek::scalapack

using namespace creek::scalapack;

#define CREEK_GEMM(LETTER, T)                                                                      \
  CREEK_SCALAPACK(                                                                                 \
      p##LETTER##gemm_,                                                                            \
      (const char* op_a, const char* op_b, const int* m, const int* n, const int* k,               \
       const T* alpha, T* a, const int* ia, const int* ja, const int* desc_a, T* b, const int* ib, \
       const int* jb, const int* desc_b, const T* beta, T* c, const int* ic, const int* jc,        \
       const int* desc_c),                                                                         \
      (op_a, op_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb, desc_b, beta, c, ic, jc, desc_c), \
      gemm(*op_a, *op_b, *m, *n, *k, *alpha, a, *ia, *ja, desc_a, b, *ib, *jb, desc_b, *beta, c,   \
           *ic, *jc, desc_c))

CREEK_EACH_TYPE(CREEK_GEMM)
