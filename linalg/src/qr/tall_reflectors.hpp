// SPDX-License-Identifier: Apache-2.0
// Reflectors of matrices much higher than wide, formed and applied by pieces of rows on all
// workers. The same results for any number of workers.
#pragma once

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// Minimum number of rows for which these functions are faster than those of reflectors.hpp.
inline constexpr index_t min_tall_rows = 8192;

/// Like form_triangle.
template <scalar T>
void form_tall_triangle(const_view<T> V, const T* tau, matrix_view<T> triangle);

/// C = Q C or, if `turned`, Q^H C, with Q = I - V T V^H. The ones and zeros of V are not stored.
template <scalar T>
void apply_tall(const_view<T> V, const_view<T> triangle, bool turned, matrix_view<T> C);

}  // namespace creek::linalg::detail
