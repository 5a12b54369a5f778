// SPDX-License-Identifier: Apache-2.0
#include <creek/core/io/large_pages.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace creek {
namespace {

constexpr std::size_t page = std::size_t{1} << 21;  // on x86-64, AArch64 with 4 KiB pages

constexpr bool is_large(std::size_t bytes) noexcept {
  return bytes >= 4 * page;
}

/// Returns the alignment of a block of `bytes` bytes.
constexpr std::align_val_t border_of(std::size_t bytes, std::size_t alignment) noexcept {
  return std::align_val_t{is_large(bytes) ? std::max(alignment, page) : alignment};
}

}  // namespace

void* allocate_large(std::size_t bytes, std::size_t alignment) {
  const std::size_t whole = is_large(bytes) ? (bytes + page - 1) / page * page : bytes;
  void* const memory = ::operator new(whole, border_of(bytes, alignment));
  if (is_large(bytes)) (void)madvise(memory, whole, MADV_HUGEPAGE);  // affects only speed
  return memory;
}

void free_large(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  ::operator delete(memory, border_of(bytes, alignment));
}

}  // namespace creek
