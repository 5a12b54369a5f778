// SPDX-License-Identifier: Apache-2.0
// Access of the BLAS peers to the library that this process was started for: LAPACK's Fortran
// symbols, found at run time, with 32-bit integers.
#pragma once
#include <string>

#include "dense.hpp"

namespace bench::blas {

/// Returns the address of `name` without prefix and underscore ("dgetrf"), or nullptr.
void* find_routine(const std::string& name);

/// Returns a routine that a registration has named and that therefore exists.
template <class Function>
Function* routine(const char* name) {
  return reinterpret_cast<Function*>(find_routine(name));
}

/// Adds a workload for libraries that have `routine`, which the workload calls.
class registration {
 public:
  registration(const description& what, run_function run, const char* routine);
};

/// Returns n as a Fortran integer.
inline int integer(std::int64_t n) {
  return static_cast<int>(n);
}

}  // namespace bench::blas
