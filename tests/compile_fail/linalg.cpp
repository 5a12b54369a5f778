// SPDX-License-Identifier: Apache-2.0
// Mistakes in programs that use linear algebra, and the messages that the compiler has to give.
#include <creek/linalg.hpp>

namespace la = creek::linalg;

void program(la::task_graph& graph) {
  la::matrix<double> A(3, 3);
  const la::lu<double> factors(A);
  (void)factors.info();
  (void)graph;
#ifdef MATRIX_OF_INTEGERS
  // expect: constraint failure
  // expect: scalar
  la::matrix<int> integers(3, 3);
#endif
#ifdef FACTORS_OF_ANOTHER_TYPE
  // expect: no matching function
  const la::lu<float> others(A);
#endif
}
