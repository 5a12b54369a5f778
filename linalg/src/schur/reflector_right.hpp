// SPDX-License-Identifier: Apache-2.0
// Application of one long reflector from the right.
#pragma once

#include <creek/linalg/matrix.hpp>

#include "kernels/vector_kernels.hpp"

namespace creek::linalg::detail {

/// C = C (I - tau v v^H), where v is an implicit 1 followed by C.cols() - 1 stored elements; `dots`
/// has room for C.rows().
template <scalar T>
void apply_reflector_right(const T* v, T tau, matrix_view<T> C, T* dots) {
  const index_t rows = C.rows(), below = C.cols() - 1;
  for (index_t i = 0; i < rows; ++i) dots[i] = -C(i, 0);
  subtract(rows, below, C.data() + C.leading(), C.leading(), v, dots);
  for (index_t i = 0; i < rows; ++i) dots[i] *= tau;
  for (index_t i = 0; i < rows; ++i) C(i, 0) += dots[i];
  for (index_t j = 0; j < below; ++j) {
    const T weight = -conjugated(v[j]);
    subtract(rows, 1, dots, 0, &weight, C.column(j + 1));
  }
}

}  // namespace creek::linalg::detail
