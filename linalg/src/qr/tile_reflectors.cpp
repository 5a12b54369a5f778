// SPDX-License-Identifier: Apache-2.0
#include "tile_reflectors.hpp"

#include <algorithm>

namespace creek::linalg::detail {

template <scalar T>
void factor_tile(matrix_view<T> A, matrix_view<T> triangles) {
  const index_t order = triangles.cols();
  const index_t inner = triangles.rows();
  const pack_array<T> tau(inner);
  for (index_t k = 0; k < order; k += inner) {
    const index_t width = std::min(inner, order - k);
    const index_t rows = A.rows() - k;
    const matrix_view<T> panel = A.block(k, k, rows, width);
    const matrix_view<T> triangle = triangles.block(0, k, width, width);
    factor_reflectors(panel, tau.data(), triangle);
    const index_t done = k + width;
    if (done == A.cols()) break;
    packed_reflectors<T>(panel, triangle, true).apply(A.block(k, done, rows, A.cols() - done));
  }
}

template <scalar T>
packed_tile<T>::packed_tile(const_view<T> V, const_view<T> triangles, bool turned)
    : turned_(turned), inner_(triangles.rows()) {
  const index_t order = triangles.cols();
  for (index_t k = 0; k < order; k += inner_) {
    const index_t width = std::min(inner_, order - k);
    groups_.emplace_back(V.block(k, k, V.rows() - k, width), triangles.block(0, k, width, width),
                         turned);
  }
}

template <scalar T>
void packed_tile<T>::apply(matrix_view<T> C) const {
  const auto groups = static_cast<index_t>(groups_.size());
  for (index_t s = 0; s < groups; ++s) {
    const index_t g = turned_ ? s : groups - 1 - s;
    const index_t first = g * inner_;
    groups_[static_cast<std::size_t>(g)].apply(C.block(first, 0, C.rows() - first, C.cols()));
  }
}

#define CREEK_INSTANTIATE(letter, T)                            \
  template void factor_tile<T>(matrix_view<T>, matrix_view<T>); \
  template class packed_tile<T>;
CREEK_FOR_EACH_SCALAR(CREEK_INSTANTIATE)
#undef CREEK_INSTANTIATE

}  // namespace creek::linalg::detail
