// SPDX-License-Identifier: Apache-2.0
// Memory that a caller may lend, so that small problems need none from the heap.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include <creek/linalg/matrix.hpp>

namespace creek::linalg::detail {

/// The caller's memory; where that is too short, memory in this object for up to `in_place`
/// elements, or on the heap.
template <class T, std::size_t in_place = 0>
class lent_memory {
 public:
  lent_memory(std::span<T> lent, index_t count) : data_(lent.data()) {
    const auto size = static_cast<std::size_t>(count);
    if (lent.size() >= size) return;
    if (size > in_place) many_.resize(size);
    data_ = many_.empty() ? few_.data() : many_.data();
  }
  lent_memory(const lent_memory&) = delete;
  lent_memory& operator=(const lent_memory&) = delete;

  T* data() const noexcept { return data_; }

 private:
  T* data_;
  std::array<T, in_place> few_;
  std::vector<T> many_;
};

}  // namespace creek::linalg::detail
