// SPDX-License-Identifier: Apache-2.0
// Blocks of memory for tables that grow by doubling. Blocks smaller than a large page share one: a
// table of some megabytes in many parts has few entries in the address cache (TLB) of its core.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <creek/core/language.hpp>

namespace creek {

/// Usable by any thread. All memory goes back to the system when the pool is destroyed; before
/// that, some large pages whose blocks were all freed are kept for the next blocks.
class block_pool {
 public:
  block_pool() = default;
  block_pool(const block_pool&) = delete;
  block_pool& operator=(const block_pool&) = delete;
  ~block_pool();

  /// Returns a block of `bytes` zeros, aligned to 64; those of a new page are not written again.
  /// Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// Frees a block of this pool; `bytes` as for allocate().
  void free(void* block, std::size_t bytes) noexcept;

 private:
  static constexpr std::size_t page_bytes = std::size_t{1} << 21;  // on x86-64, AArch64 with 4 KiB
  static constexpr std::size_t min_bytes = page_bytes / 64;  // smaller blocks are not in pages
  static constexpr std::size_t max_spare = 16;

  /// A large page cut into blocks of one size, at most 64.
  struct page {
    char* at;
    std::uint64_t used;     // a bit per block
    std::uint64_t written;  // blocks that may have other bytes than zero once they are free
  };
  static std::size_t class_of(std::size_t bytes) noexcept;
  [[nodiscard]] page new_page();

  std::mutex lock_;
  std::array<std::vector<page>, 6> pages_;  // by the blocks' size: min_bytes << i
  std::vector<char*> spare_;
};

}  // namespace creek
