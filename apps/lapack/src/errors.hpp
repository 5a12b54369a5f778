// SPDX-License-Identifier: Apache-2.0
// Reports errors to a caller in C or Fortran; entry points that no exception may leave.
#pragma once

#include <exception>
#include <new>

#include "arguments.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// A call of a function of this library: the routine's name, such as "dgetrf", and an address in
/// the code that called it.
struct entry {
  const char* routine;
  const void* caller;
};

/// Calls xerbla_ for the bad argument `position` (from 1) of a routine. Uses the xerbla_ of the
/// program, or one that the caller's library can see, else ours, which prints LAPACK's line on
/// standard error. Returns if that returns.
void report_argument(const entry& called, int position);

/// Does the same with cblas_xerbla and a name such as "cblas_dgemm".
void report_cblas_argument(const entry& called, int position);

/// Does the same with LAPACKE_xerbla and the whole name of the function.
void report_c_interface(const entry& called, blas_int info);

/// Prints a line on standard error and aborts: Fortran has no way to report a lack of memory.
[[noreturn]] void die(const char* routine, const char* why) noexcept;

/// Calls `f` and returns its result; an exception from it ends the process.
template <class F>
auto shielded(const char* routine, F f) noexcept {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    die(routine, "not enough memory");
  } catch (const std::exception& failure) {
    die(routine, failure.what());
  }
}

/// Returns the result of a LAPACK routine, after reporting a bad argument.
inline blas_int reported(const entry& called, blas_int info) {
  if (info < 0) report_argument(called, static_cast<int>(-info));
  return info;
}

/// Result of a routine that may find a bad argument of which LAPACK does not tell xerbla_.
struct quiet_info {
  blas_int info;
  bool quiet = false;
};
inline blas_int reported(const entry& called, quiet_info result) {
  return result.quiet ? result.info : reported(called, result.info);
}

/// Runs a LAPACK routine called from Fortran; returns the info of f() and reports bad arguments.
template <class F>
blas_int lapack_entry(const entry& called, F f) noexcept {
  return shielded(called.routine, [&] { return reported(called, f()); });
}

/// Runs a BLAS routine called from Fortran: f() returns the position of a bad argument, or 0.
template <class F>
void blas_entry(const entry& called, F f) noexcept {
  shielded(called.routine, [&] {
    if (const int bad = f()) report_argument(called, bad);
    return 0;
  });
}

/// Runs a BLAS routine called from C: checks the layout first, then f(layout) returns as f() above.
template <class F>
void cblas_entry(const entry& called, int given, F f) noexcept {
  shielded(called.routine, [&] {
    const auto order = parse_layout(given);
    const int bad = order ? f(*order) : 0;
    if (!order || bad != 0) report_cblas_argument(called, bad + 1);
    return 0;
  });
}

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
