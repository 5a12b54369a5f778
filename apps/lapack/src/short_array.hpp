// SPDX-License-Identifier: Apache-2.0
// Numbers that a call needs besides its arguments.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "arguments.hpp"

namespace creek::lapack {
inline namespace CREEK_LAPACK_WIDTH {

/// An array for the length of a call; up to `few` elements need no allocation, as small matrices
/// must not wait for one.
template <class T, std::size_t few>
class short_array {
 public:
  explicit short_array(index_t count) : count_(static_cast<std::size_t>(count)) {
    if (count_ > few) many_.resize(count_);
  }
  std::span<T> span() noexcept { return {many_.empty() ? few_ : many_.data(), count_}; }

 private:
  std::size_t count_;
  T few_[few];
  std::vector<T> many_;
};

}  // namespace CREEK_LAPACK_WIDTH
}  // namespace creek::lapack
