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

namespace {

constexpr std::size_t ordinary = 4096;
constexpr std::size_t huge = std::size_t{1} << 21;  // on x86-64, AArch64 with 4 KiB pages

/// Writes to each page that begins in the memory. A page that is read first costs two faults, and
/// the second one interrupts all other threads, which may have the system's page of zeros there.
void make_resident(char* at, std::size_t bytes, std::size_t page) noexcept {
  const std::uintptr_t behind = reinterpret_cast<std::uintptr_t>(at) % page;
  for (std::size_t i = (page - behind) % page; i < bytes; i += page) {
    *static_cast<volatile char*>(at + i) = 0;
  }
}

}  // namespace

void* zero_pool::allocate(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  const auto [at, page] = take(bytes);
  make_resident(at, bytes, page);
  return at;
}

std::pair<char*, std::size_t> zero_pool::take(std::size_t bytes) {
  const std::lock_guard guard(lock_);
  if (bytes > left_) grow();
  if (bytes > left_) throw std::bad_alloc();  // callers need a few kilobytes
  left_ -= bytes;
  return {std::exchange(next_, next_ + bytes), chunks_.size() == 1 ? ordinary : huge};
}

void zero_pool::grow() {
  constexpr std::size_t small = std::size_t{1} << 20;
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
