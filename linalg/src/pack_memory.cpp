// SPDX-License-Identifier: Apache-2.0
#include "pack_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <utility>

namespace creek::linalg::detail {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t large_page = std::size_t{2} << 20;

struct block {
  void* data = nullptr;
  std::size_t bytes = 0;
};

block allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= large_page / 2 ? large_page : line;
  if (bytes > static_cast<std::size_t>(-1) - alignment) throw std::bad_alloc();
  bytes = (bytes + alignment - 1) / alignment * alignment;
  void* data = std::aligned_alloc(alignment, bytes);
  if (data == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == large_page) (void)madvise(data, bytes, MADV_HUGEPAGE);  // a wish
#endif
  return {data, bytes};
}

/// What this thread has to give.
class shelf {
 public:
  shelf() = default;
  shelf(const shelf&) = delete;
  shelf& operator=(const shelf&) = delete;
  ~shelf() {
    for (block& each : blocks_) std::free(each.data);
  }

  /// The smallest that is large enough; none that would mostly lie idle.
  block take(std::size_t bytes) noexcept {
    block* best = nullptr;
    for (block& each : blocks_) {
      if (each.bytes < bytes || each.bytes / 4 > bytes + large_page) continue;
      if (best == nullptr || each.bytes < best->bytes) best = &each;
    }
    return best == nullptr ? block{} : std::exchange(*best, {});
  }
  /// In place of the smallest.
  void put(block given) noexcept {
    block& least =
        *std::min_element(blocks_.begin(), blocks_.end(),
                          [](const block& a, const block& b) { return a.bytes < b.bytes; });
    if (least.bytes < given.bytes) std::swap(least, given);
    std::free(given.data);
  }

 private:
  std::array<block, 4> blocks_{};
};

// Not inlined: a strand may have moved to another thread since it asked last.
[[gnu::noinline]] shelf& own_shelf() {
  thread_local shelf own;
  return own;
}

}  // namespace

pack_memory::pack_memory(std::size_t bytes) {
  block found = own_shelf().take(bytes);
  if (found.data == nullptr) found = allocate(std::max<std::size_t>(bytes, line));
  data_ = found.data;
  bytes_ = found.bytes;
}

pack_memory::~pack_memory() {
  own_shelf().put({data_, bytes_});
}

}  // namespace creek::linalg::detail
