// SPDX-License-Identifier: Apache-2.0
// Allocates chunks: a small one of ordinary pages, as most texts have few words, then large ones.
#include <creek/mapreduce/word_table/zero_pool.hpp>

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace creek::mapreduce::detail {

zero_pool::~zero_pool() {
  for (const auto& [at, bytes] : chunks_) munmap(at, bytes);
}

void* zero_pool::allocate(std::size_t bytes) {
  const std::lock_guard guard(lock_);
  bytes = (bytes + 63) / 64 * 64;
  if (bytes > left_) grow();
  if (bytes > left_) throw std::bad_alloc();  // callers need a few kilobytes
  void* at = next_;
  next_ += bytes;
  left_ -= bytes;
  return at;
}

void zero_pool::grow() {
  constexpr std::size_t small = std::size_t{1} << 20;
  constexpr std::size_t huge = std::size_t{1} << 21;  // on x86-64, AArch64 with 4 KiB pages
  constexpr std::size_t large = 2 * huge;
  const bool first = chunks_.empty();
  const std::size_t bytes = first ? small : large + huge;
  chunks_.reserve(chunks_.size() + 1);
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  chunks_.emplace_back(at, bytes);
  next_ = static_cast<char*>(at);
  left_ = bytes;
  if (first) return;
  next_ += (huge - reinterpret_cast<std::uintptr_t>(at) % huge) % huge;
  left_ = large;
  (void)madvise(next_, left_, MADV_HUGEPAGE);  // affects only speed
}

}  // namespace creek::mapreduce::detail
