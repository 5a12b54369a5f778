// SPDX-License-Identifier: Apache-2.0
#include <creek/mapreduce/detail/large_pages.hpp>

#include <sys/mman.h>

namespace creek::mapreduce::detail {
namespace {

constexpr std::size_t page = std::size_t{1} << 21;  // of x86-64 and of AArch64 with 4 KiB pages

constexpr bool is_large(std::size_t bytes) noexcept {
  return bytes >= 4 * page;
}

}  // namespace

void* allocate_large(std::size_t bytes) {
  if (!is_large(bytes)) return ::operator new(bytes);
  const std::size_t whole = (bytes + page - 1) / page * page;
  void* const memory = ::operator new(whole, std::align_val_t{page});
  (void)madvise(memory, whole, MADV_HUGEPAGE);  // only speed
  return memory;
}

void free_large(void* memory, std::size_t bytes) noexcept {
  if (is_large(bytes)) {
    ::operator delete(memory, std::align_val_t{page});
  } else {
    ::operator delete(memory);
  }
}

}  // namespace creek::mapreduce::detail
