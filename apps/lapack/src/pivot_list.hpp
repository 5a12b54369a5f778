// SPDX-License-Identifier: Apache-2.0
// IPIV of LAPACK's routines.
#pragma once

#include <algorithm>
#include <span>

#include "short_array.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// Row numbers counted from 0, as creek counts rows.
class pivot_list {
 public:
  explicit pivot_list(index_t count) : rows_(count) {}
  pivot_list(const blas_int* ipiv, index_t count) : pivot_list(count) {
    std::transform(ipiv, ipiv + count, span().begin(), [](blas_int p) { return index_t{p} - 1; });
  }
  std::span<index_t> span() noexcept { return rows_.span(); }
  void write(blas_int* ipiv) noexcept {
    std::ranges::transform(span(), ipiv, [](index_t p) { return static_cast<blas_int>(p + 1); });
  }

 private:
  short_array<index_t, 64> rows_;
};

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
