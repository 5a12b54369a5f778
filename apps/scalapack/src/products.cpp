// SPDX-License-Identifier: Apache-2.0
// p?gemm.
#include <creek/linalg/grids.hpp>

#include "call.hpp"
#include "routine.hpp"
#include "workers.hpp"

namespace creek::scalapack {
namespace {

template <linalg::scalar T>
bool gemm(char op_a, char op_b, int m, int n, int k, T alpha, T* a, int ia, int ja,
          const int* desc_a, T* b, int ib, int jb, const int* desc_b, T beta, T* c, int ic, int jc,
          const int* desc_c) {
  call here(desc_c);
  const auto how_a = to_op(op_a), how_b = to_op(op_b);
  const bool plain_a = how_a == linalg::op::none, plain_b = how_b == linalg::op::none;
  const auto C = here.matrix(m, n, c, ic, jc, desc_c);
  const auto A = here.matrix(plain_a ? m : k, plain_a ? k : m, a, ia, ja, desc_a);
  const auto B = here.matrix(plain_b ? k : n, plain_b ? n : k, b, ib, jb, desc_b);
  for (const char letter : {op_a, op_b}) here.note(in_upper_case(letter));
  if (!here.all_agree(A && B && C && how_a && how_b &&
                      are_of_a_product(*how_a, A->view, *how_b, B->view, C->view))) {
    return false;
  }
  gemm_on_grid<mpi_communicator, T>(here.ranks(), *how_a, *how_b, alpha, A->view, B->view, beta,
                                    C->view, workers_for(here, operations_of_product<T>(m, n, k)));
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
