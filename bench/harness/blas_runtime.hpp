// SPDX-License-Identifier: Apache-2.0
// How the BLAS peers reach the library that this process was started for: LAPACK's Fortran symbols,
// found at run time, with 32-bit integers.
#pragma once
#include <string>

#include "dense.hpp"

namespace bench::blas {

/// The address of `name` without prefix and underscore ("dgetrf"), null if the library has none.
void* find_routine(const std::string& name);

/// A routine that a registration has named, and is there for that reason.
template <class Function>
Function* routine(const char* name) {
  return reinterpret_cast<Function*>(find_routine(name));
}

/// Enters a workload for libraries that have `routine`, which it calls.
class registration {
 public:
  registration(const description& what, run_function run, const char* routine);
};

/// n as Fortran takes it.
inline int integer(std::int64_t n) {
  return static_cast<int>(n);
}

}  // namespace bench::blas
