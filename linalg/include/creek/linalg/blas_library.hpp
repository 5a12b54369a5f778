// SPDX-License-Identifier: Apache-2.0
// Other libraries of linear algebra on this machine. creek needs none of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::linalg {

/// Identity of a BLAS library, as the library itself reports it.
struct blas_library {
  std::string name;     ///< "OpenBLAS", "MKL", "BLIS"; "BLAS" if it does not say
  std::string version;  ///< may be empty, as for the reference implementation
  std::string kernel;   ///< its kernel for this processor, in its own words; may be empty
  std::string path;     ///< the file, links followed
};

/// Returns the libraries that the dynamic loader finds under the usual names, each file once. Loads
/// them, which may start threads of theirs, and leaves them loaded.
std::vector<blas_library> other_blas_libraries();

/// Returns the library that CREEK_BLAS names, if set: a file, or openblas, mkl or blis. Its xGEMM
/// replaces creek's loops in all products of whole matrices (gemm, and those in trsm, trmm,
/// inverses and the like), in one library thread per worker; getrf, potrf and geqrf keep creek's
/// own updates, whose operands creek has packed. Read once. Throws usage_error if the library
/// cannot be loaded or lacks xGEMM, here and in the first product.
std::optional<blas_library> blas_in_use();

}  // namespace creek::linalg
