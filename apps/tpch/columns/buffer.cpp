// SPDX-License-Identifier: Apache-2.0
#include "buffer.hpp"

#include <sys/mman.h>

#include <cstring>
#include <new>

namespace creek::tpch {

buffer::buffer(std::size_t bytes) : size_(bytes) {
  constexpr std::size_t line = 64, huge = std::size_t{2} << 20;
  const std::size_t alignment = bytes >= huge ? huge : line;
  const std::size_t whole = (bytes + read_slack + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
  if (data_ == nullptr) throw std::bad_alloc();
  // Large pages cause fewer TLB misses in a scan. They only affect speed, so refusal is no error.
  if (alignment == huge) static_cast<void>(madvise(data_.get(), whole, MADV_HUGEPAGE));
  std::memset(data_.get() + bytes, 0, read_slack);
}

}  // namespace creek::tpch
