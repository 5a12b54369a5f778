// SPDX-License-Identifier: Apache-2.0
// Other libraries of linear algebra on this machine. creek needs none of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::linalg {

/// What a library says of itself.
struct blas_library {
  std::string name;     ///< "OpenBLAS", "MKL", "BLIS"; "BLAS" of those that do not say
  std::string version;  ///< may be empty, as for the reference implementation
  std::string kernel;   ///< what it took for this processor, in its own words; may be empty
  std::string path;     ///< the file, links followed
};

/// Those that the dynamic loader finds under the usual names, each file once. Loads them, which may
/// start threads of theirs, and leaves them loaded.
std::vector<blas_library> other_blas_libraries();

/// The one that CREEK_BLAS names, if it is set: a file, or openblas, mkl or blis. Its xGEMM then
/// does all products of whole matrices (gemm, and what trsm, trmm, inverses and the like are made
/// of) in place of creek's own loops, in one thread of the library for each worker; the updates of
/// getrf, potrf and geqrf, whose operands creek has packed, stay its own. Read once. Throws
/// usage_error for one that cannot be loaded or lacks xGEMM, here and in the first product.
std::optional<blas_library> blas_in_use();

}  // namespace creek::linalg
