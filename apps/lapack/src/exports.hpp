// SPDX-License-Identifier: Apache-2.0
// Macros that make the exported symbols by pasting names, which nothing else can; the work of a
// call is in errors.hpp and c_interface.hpp. In each, ROUTINE is the name with its type's letter
// (dgetrf), PARAMETERS the list in parentheses, CALL an expression of the parameters.
#pragma once

#include <creek/linalg/scalar.hpp>

#include "c_interface.hpp"
#include "call_log.hpp"
#include "errors.hpp"
#include "workspace.hpp"

#define CREEK_EXPORT extern "C" [[gnu::visibility("default")]]
#define CREEK_ALIAS(ALIAS, NAME) CREEK_EXPORT [[gnu::alias(#NAME)]] decltype(NAME) ALIAS;

/// CREEK_NAME is the symbol of a function. Those with 64-bit integers have a suffix (dgetrf_64_,
/// cblas_dgemm64_); the library that has no others gets the names without it from the linker
/// (usual_names.cmake). The wheels of NumPy and SciPy call by names with a prefix.
#ifdef CREEK_LAPACK_ILP64
#define CREEK_NAME(NAME) NAME##64_
#else
#define CREEK_NAME(NAME) NAME
#endif
#define CREEK_PREFIXED(NAME) CREEK_ALIAS(scipy_##NAME, NAME)
#define CREEK_PREFIX(NAME) CREEK_PREFIXED(NAME)
#define CREEK_ALIASES(NAME) CREEK_PREFIX(CREEK_NAME(NAME))

/// Begins an entry point: defines `here`, an entry, and notes the call if that is wanted.
#define CREEK_TEXT(NAME) #NAME
#define CREEK_TEXT_OF(NAME) CREEK_TEXT(NAME)
#define CREEK_ENTRY(ROUTINE, NAME)                                                              \
  const creek::lapack::entry here{#ROUTINE, __builtin_return_address(0)};                       \
  static constinit creek::lapack::routine_calls calls_of_this{CREEK_TEXT_OF(CREEK_NAME(NAME))}; \
  const creek::lapack::noted_call noted(calls_of_this);

/// Fortran's form of a LAPACK routine that returns `info`; CALL returns it.
#define CREEK_LAPACK(ROUTINE, PARAMETERS, CALL)                      \
  CREEK_EXPORT void CREEK_NAME(ROUTINE##_) PARAMETERS {              \
    CREEK_ENTRY(ROUTINE, ROUTINE##_)                                 \
    *info = creek::lapack::lapack_entry(here, [&] { return CALL; }); \
  }                                                                  \
  CREEK_ALIASES(ROUTINE##_)

/// Fortran's form of a routine without `info`; CALL returns the bad argument's position, or 0.
#define CREEK_BLAS(ROUTINE, PARAMETERS, CALL)              \
  CREEK_EXPORT void CREEK_NAME(ROUTINE##_) PARAMETERS {    \
    CREEK_ENTRY(ROUTINE, ROUTINE##_)                       \
    creek::lapack::blas_entry(here, [&] { return CALL; }); \
  }                                                        \
  CREEK_ALIASES(ROUTINE##_)

/// CBLAS's form of it. PARAMETERS begin with `int layout_number`; CALL can use `order`.
#define CREEK_CBLAS(ROUTINE, PARAMETERS, CALL)                                     \
  CREEK_EXPORT void CREEK_NAME(cblas_##ROUTINE) PARAMETERS {                       \
    CREEK_ENTRY(cblas_##ROUTINE, cblas_##ROUTINE)                                  \
    creek::lapack::cblas_entry(here, layout_number,                                \
                               [&](creek::lapack::layout order) { return CALL; }); \
  }                                                                                \
  CREEK_ALIASES(cblas_##ROUTINE)

/// One form of a LAPACKE function; BODY can use a c_call `how`.
#define CREEK_LAPACKE_FORM(ROUTINE, FORM, PARAMETERS, UPPER, ONLY_LENGTH, BODY)                    \
  CREEK_EXPORT creek::lapack::blas_int CREEK_NAME(LAPACKE_##ROUTINE##FORM) PARAMETERS {            \
    CREEK_ENTRY(LAPACKE_##ROUTINE, LAPACKE_##ROUTINE)                                              \
    const creek::lapack::c_call how{here.routine, here.caller, layout_number, UPPER, ONLY_LENGTH}; \
    BODY                                                                                           \
  }                                                                                                \
  CREEK_ALIASES(LAPACKE_##ROUTINE##FORM)

/// Both forms of LAPACKE. PARAMETERS begin with `int layout_number`; CALL can use a c_call `how`.
#define CREEK_LAPACKE(ROUTINE, PARAMETERS, CALL)                       \
  CREEK_LAPACKE_FORM(ROUTINE, , PARAMETERS, true, false, return CALL;) \
  CREEK_LAPACKE_FORM(ROUTINE, _work, PARAMETERS, false, false, return CALL;)

/// Both forms for a routine with a workspace, which the lower form takes as its last two arguments
/// and the upper form does not have. CALL can use `space`, too.
#define CREEK_LISTED(...) __VA_ARGS__
#define CREEK_LAPACKE_WITH_WORK(ROUTINE, T, PARAMETERS, CALL)                                   \
  CREEK_LAPACKE_FORM(ROUTINE, , PARAMETERS, true, false, T unread{};                            \
                     const creek::lapack::workspace<T> space(                                   \
                         &unread, std::numeric_limits<creek::lapack::blas_int>::max());         \
                     return CALL;)                                                              \
  CREEK_LAPACKE_FORM(ROUTINE, _work,                                                            \
                     (CREEK_LISTED PARAMETERS, T * work, creek::lapack::blas_int lwork), false, \
                     lwork == -1, const creek::lapack::workspace<T> space(work, lwork);         \
                     return CALL;)
