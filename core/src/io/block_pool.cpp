// SPDX-License-Identifier: Apache-2.0
#include <creek/core/io/block_pool.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>

namespace creek {
namespace {

constexpr std::align_val_t line{64};

/// Returns memory that begins at a multiple of `alignment`, preferably in large pages. Throws
/// std::bad_alloc.
char* map_pages(std::size_t bytes, std::size_t alignment) {
  void* const memory = mmap(nullptr, bytes + alignment, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<char*>(memory);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % alignment;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + bytes, alignment - before);
  (void)madvise(begin + before, bytes, MADV_HUGEPAGE);  // affects only speed
  return begin + before;
}

}  // namespace

block_pool::~block_pool() {
  for (char* const at : spare_) munmap(at, page_bytes);
}

std::size_t block_pool::class_of(std::size_t bytes) noexcept {
  return static_cast<std::size_t>(std::bit_width((bytes - 1) / min_bytes));
}

void* block_pool::allocate(std::size_t bytes) {
  if (bytes < min_bytes) return std::memset(::operator new(bytes, line), 0, bytes);
  const std::size_t index = class_of(bytes);
  if (index >= pages_.size()) {
    if (bytes > static_cast<std::size_t>(-1) / 2) throw std::bad_alloc();
    return map_pages((bytes + page_bytes - 1) / page_bytes * page_bytes, page_bytes);
  }
  const std::size_t size = min_bytes << index, blocks = page_bytes / size;
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - blocks);
  std::unique_lock guard(lock_);
  std::vector<page>& pages = pages_[index];
  auto found = std::ranges::find_if(pages, [&](const page& each) { return each.used != all; });
  if (found == pages.end()) {
    pages.reserve(pages.size() + 1);
    found = pages.insert(pages.end(), new_page());
  }
  const auto i = static_cast<std::size_t>(std::countr_one(found->used));
  const std::uint64_t bit = std::uint64_t{1} << i;
  const bool is_written = (found->written & bit) != 0;
  found->used |= bit;
  found->written |= bit;
  char* const block = found->at + i * size;
  guard.unlock();
  return is_written ? std::memset(block, 0, bytes) : block;
}

void block_pool::free(void* block, std::size_t bytes) noexcept {
  if (bytes < min_bytes) return ::operator delete(block, line);
  const std::size_t index = class_of(bytes);
  if (index >= pages_.size()) {
    munmap(block, (bytes + page_bytes - 1) / page_bytes * page_bytes);
    return;
  }
  const auto offset = reinterpret_cast<std::uintptr_t>(block) % page_bytes;
  char* const at = static_cast<char*>(block) - offset;
  const std::lock_guard guard(lock_);
  std::vector<page>& pages = pages_[index];
  const auto found = std::ranges::find(pages, at, &page::at);
  found->used &= ~(std::uint64_t{1} << offset / (min_bytes << index));
  if (found->used != 0) return;
  pages.erase(found);
  if (spare_.size() < max_spare && spare_.size() < spare_.capacity()) {
    spare_.push_back(at);
  } else {
    munmap(at, page_bytes);
  }
}

block_pool::page block_pool::new_page() {
  if (spare_.empty()) {
    spare_.reserve(max_spare);
    return {map_pages(page_bytes, page_bytes), 0, 0};
  }
  char* const at = spare_.back();
  spare_.pop_back();
  return {at, 0, ~std::uint64_t{0}};
}

}  // namespace creek
