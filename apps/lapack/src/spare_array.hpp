// SPDX-License-Identifier: Apache-2.0
// Routines with a second workspace of a length that is no argument: WORK and, for real matrices,
// IWORK, for complex ones RWORK. Only WORK is used.
#pragma once

#include "exports.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// Type of the second workspace.
template <scalar T>
using spare_array = std::conditional_t<is_complex<T>, real<T>*, blas_int*>;

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack

/// Both forms of LAPACKE for such a routine. CALL can use `work`, which is null in the upper form.
#define CREEK_LAPACKE_WITH_SPARE(ROUTINE, T, PARAMETERS, CALL)                                  \
  CREEK_LAPACKE_FORM(ROUTINE, , PARAMETERS, true, false, T* const work = nullptr; return CALL;) \
  CREEK_LAPACKE_FORM(ROUTINE, _work,                                                            \
                     (CREEK_LISTED PARAMETERS, T * work, creek::lapack::spare_array<T>), false, \
                     false, return CALL;)
