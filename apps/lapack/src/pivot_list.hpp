// SPDX-License-Identifier: Apache-2.0
// IPIV of LAPACK's routines.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "arguments.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// Row numbers counted from 0, as creek counts rows; those of small matrices without allocation.
class pivot_list {
 public:
  explicit pivot_list(index_t count) : count_(static_cast<std::size_t>(count)) {
    if (count_ > std::size(few_)) many_.resize(count_);
  }
  pivot_list(const blas_int* ipiv, index_t count) : pivot_list(count) {
    std::transform(ipiv, ipiv + count, span().begin(), [](blas_int p) { return index_t{p} - 1; });
  }
  std::span<index_t> span() noexcept { return {many_.empty() ? few_ : many_.data(), count_}; }
  void write(blas_int* ipiv) noexcept {
    std::ranges::transform(span(), ipiv, [](index_t p) { return static_cast<blas_int>(p + 1); });
  }

 private:
  std::size_t count_;
  index_t few_[64];
  std::vector<index_t> many_;
};

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
