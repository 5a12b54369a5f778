// SPDX-License-Identifier: Apache-2.0
// Mistakes in programs that use linear algebra, and the messages that the compiler has to give.
#include <creek/linalg.hpp>

#include <vector>

namespace la = creek::linalg;

void program(la::task_graph& graph, la::matrix<double>& A, const la::matrix<double>& B,
             std::vector<int>& pivots) {
  std::vector<la::index_t> exchanges(3);
#ifndef MISTAKE
  const la::lu<double> factors(A);
  (void)factors.info();
  la::gemm(la::op::none, la::op::none, 1.0, B.view(), B.view(), 0.0, A.view());
  (void)la::getrf(A.view(), std::span<la::index_t>(exchanges));
  graph.add({}, {la::inout(A.data())}, [] {});
  (void)pivots;
#endif

#ifdef MATRIX_OF_INTEGERS
  // expect: template constraint failure for .*scalar<T>.*matrix
  la::matrix<int> integers(3, 3);
#endif
#ifdef VIEW_OF_LONG_DOUBLES
  // expect: template constraint failure for .*scalar<.*matrix_view
  long double elements[4];
  la::matrix_view<long double> view(elements, 2, 2, 2);
#endif
#ifdef FACTORS_OF_ANOTHER_TYPE
  // expect: no matching function for call to .*lu<float>::lu\(creek::linalg::matrix<double>
  const la::lu<float> others(A);
#endif
#ifdef PRODUCT_OF_ANOTHER_TYPE
  // expect: no matching function for call to .gemm
  // because: .*no known conversion
  la::matrix<float> single(3, 3);
  la::gemm(la::op::none, la::op::none, 1.0, single.view(), B.view(), 0.0, A.view());
#endif
#ifdef PRODUCT_INTO_A_CONSTANT
  // expect: no matching function for call to .gemm
  // because: .*scalar
  la::gemm(la::op::none, la::op::none, 1.0, B.view(), B.view(), 0.0, B.view());
#endif
#ifdef FACTORED_CONSTANT
  // expect: no matching function for call to .getrf
  // because: .*scalar
  (void)la::getrf(B.view(), std::span<la::index_t>(exchanges));
#endif
#ifdef PIVOTS_OF_ANOTHER_TYPE
  // expect: no matching function for call to .getrf
  // because: .*cannot convert
  (void)la::getrf(A.view(), std::span<int>(pivots));
#endif
#ifdef ELEMENT_OF_A_CONSTANT_VIEW
  // expect: assignment of read-only location
  la::const_view<double> view = B.view();
  view(0, 0) = 1;
#endif
#ifdef GRAPH_TASK_WITH_ARGUMENTS
  // expect: a body is called without arguments
  graph.add({}, {la::inout(A.data())}, [](int) {});
#endif
#ifdef GRAPH_TASK_WITHOUT_ACCESS
  // expect: no matching function for call to .*add\(
  graph.add({}, {A.data()}, [] {});
#endif
}
