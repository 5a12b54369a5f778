// SPDX-License-Identifier: Apache-2.0
// Routines of blas3.hpp, by execution policy (workers.hpp). They do not check shapes.
#pragma once

#include <creek/linalg/blas3.hpp>

#include "workers.hpp"

namespace creek::linalg::detail {

template <class Workers, scalar T>
void herk_by(triangle stored, op how, real<T> alpha, const_view<T> A, real<T> beta,
             matrix_view<T> C);

template <class Workers, scalar T>
void trmm_by(side where, triangle stored, op how, diagonal ones, T alpha, const_view<T> A,
             matrix_view<T> B);

template <class Workers, scalar T>
void trsm_by(side where, triangle stored, op how, diagonal ones, T alpha, const_view<T> A,
             matrix_view<T> B);

}  // namespace creek::linalg::detail
