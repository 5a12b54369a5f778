// SPDX-License-Identifier: Apache-2.0
// Operations by LAPACK's own count ([LAWN 41], appendix C). A complex product counts as 6 and a
// complex sum as 2: four times the real ones, except for small n.
#pragma once

#include "problem.hpp"

namespace creek::tool::dense {

struct operations {
  double products = 0, sums = 0;

  operations operator+(const operations& other) const noexcept {
    return {products + other.products, sums + other.sums};
  }
  double flops(bool complex) const noexcept {
    return complex ? 6 * products + 2 * sums : products + sums;
  }
};

/// Returns the operations of the factorization alone.
operations factoring(method how, index_t rows, index_t cols) noexcept;

/// Returns the operations of solving for `rhs` right-hand sides with a factorization at hand.
operations solving(method how, index_t rows, index_t cols, index_t rhs) noexcept;

/// Returns the flops of everything that is timed for a problem.
double flops_of(const problem& what) noexcept;

/// Returns the flops of C = A B of order n.
double gemm_flops(index_t n, bool complex) noexcept;

}  // namespace creek::tool::dense
