// SPDX-License-Identifier: Apache-2.0
// Solutions by the LAPACK that the dynamic loader finds, if there is one.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::testing {

/// Returns the address of a routine such as "dgesv", or nullptr if there is no LAPACK.
void* reference_routine(const std::string& name);

template <scalar T>
inline constexpr char letter = std::is_same_v<T, float>    ? 's'
                               : std::is_same_v<T, double> ? 'd'
                               : sizeof(T) == 8            ? 'c'
                                                           : 'z';

/// Sets B to the X of A X = B by xGESV; returns false if there is none, or A is singular.
template <scalar T>
bool reference_solve(matrix<T>& A, matrix<T>& B) {
  using routine = void(const int*, const int*, T*, const int*, int*, T*, const int*, int*);
  auto* const gesv = reinterpret_cast<routine*>(reference_routine(letter<T> + std::string("gesv")));
  if (gesv == nullptr) return false;
  const int n = static_cast<int>(A.rows()), rhs = static_cast<int>(B.cols());
  const int lda = static_cast<int>(A.leading()), ldb = static_cast<int>(B.leading());
  std::vector<int> pivots(static_cast<std::size_t>(n) + 1);
  int info = 0;
  gesv(&n, &rhs, A.data(), &lda, pivots.data(), B.data(), &ldb, &info);
  return info == 0;
}

}  // namespace creek::linalg::testing
