// SPDX-License-Identifier: Apache-2.0
// Macros that make the exported symbols by pasting names, which nothing else can; the work of a
// call is in errors.hpp and c_interface.hpp. In each, ROUTINE is the name with its type's letter
// (dgetrf), PARAMETERS the list in parentheses, CALL an expression of the parameters.
#pragma once

#include <creek/linalg/scalar.hpp>

#include "c_interface.hpp"
#include "errors.hpp"
#include "workspace.hpp"

#define CREEK_EXPORT extern "C" [[gnu::visibility("default")]]

/// Libraries with 64-bit integers also have a suffix in their names: dgetrf_64_, cblas_dgemm64_.
#ifdef CREEK_LAPACK_ILP64
#define CREEK_SUFFIXED(NAME) \
  extern "C" [[gnu::visibility("default"), gnu::alias(#NAME)]] decltype(NAME) NAME##64_;
#else
#define CREEK_SUFFIXED(NAME)
#endif

/// Fortran's form of a LAPACK routine that returns `info`; CALL returns it.
#define CREEK_LAPACK(ROUTINE, PARAMETERS, CALL)                          \
  CREEK_EXPORT void ROUTINE##_ PARAMETERS {                              \
    *info = creek::lapack::lapack_entry(#ROUTINE, [&] { return CALL; }); \
  }                                                                      \
  CREEK_SUFFIXED(ROUTINE##_)

/// Fortran's form of a routine without `info`; CALL returns the bad argument's position, or 0.
#define CREEK_BLAS(ROUTINE, PARAMETERS, CALL)                  \
  CREEK_EXPORT void ROUTINE##_ PARAMETERS {                    \
    creek::lapack::blas_entry(#ROUTINE, [&] { return CALL; }); \
  }                                                            \
  CREEK_SUFFIXED(ROUTINE##_)

/// CBLAS's form of it. PARAMETERS begin with `int layout_number`; CALL can use `order`.
#define CREEK_CBLAS(ROUTINE, PARAMETERS, CALL)                                     \
  CREEK_EXPORT void cblas_##ROUTINE PARAMETERS {                                   \
    creek::lapack::cblas_entry("cblas_" #ROUTINE, layout_number,                   \
                               [&](creek::lapack::layout order) { return CALL; }); \
  }                                                                                \
  CREEK_SUFFIXED(cblas_##ROUTINE)

/// Both forms of LAPACKE. PARAMETERS begin with `int layout_number`; CALL can use a c_call `how`.
#define CREEK_LAPACKE(ROUTINE, PARAMETERS, CALL)                                \
  CREEK_EXPORT creek::lapack::blas_int LAPACKE_##ROUTINE PARAMETERS {           \
    const creek::lapack::c_call how{"LAPACKE_" #ROUTINE, layout_number, true};  \
    return CALL;                                                                \
  }                                                                             \
  CREEK_SUFFIXED(LAPACKE_##ROUTINE)                                             \
  CREEK_EXPORT creek::lapack::blas_int LAPACKE_##ROUTINE##_work PARAMETERS {    \
    const creek::lapack::c_call how{"LAPACKE_" #ROUTINE, layout_number, false}; \
    return CALL;                                                                \
  }                                                                             \
  CREEK_SUFFIXED(LAPACKE_##ROUTINE##_work)

/// Both forms for a routine with a workspace, which the lower form takes as its last two arguments
/// and the upper form does not have. CALL can use `space`, too.
#define CREEK_LISTED(...) __VA_ARGS__
#define CREEK_LAPACKE_WITH_WORK(ROUTINE, T, PARAMETERS, CALL)                                     \
  CREEK_EXPORT creek::lapack::blas_int LAPACKE_##ROUTINE(CREEK_LISTED PARAMETERS) {               \
    const creek::lapack::c_call how{"LAPACKE_" #ROUTINE, layout_number, true};                    \
    T unread{};                                                                                   \
    const creek::lapack::workspace<T> space(&unread,                                              \
                                            std::numeric_limits<creek::lapack::blas_int>::max()); \
    return CALL;                                                                                  \
  }                                                                                               \
  CREEK_SUFFIXED(LAPACKE_##ROUTINE)                                                               \
  CREEK_EXPORT creek::lapack::blas_int LAPACKE_##ROUTINE##_work(CREEK_LISTED PARAMETERS, T* work, \
                                                                creek::lapack::blas_int lwork) {  \
    const creek::lapack::c_call how{"LAPACKE_" #ROUTINE, layout_number, false, lwork == -1};      \
    const creek::lapack::workspace<T> space(work, lwork);                                         \
    return CALL;                                                                                  \
  }                                                                                               \
  CREEK_SUFFIXED(LAPACKE_##ROUTINE##_work)
