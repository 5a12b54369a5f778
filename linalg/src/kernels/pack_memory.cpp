// SPDX-License-Identifier: Apache-2.0
#include "pack_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include <creek/core/threads/sanitizer.hpp>

namespace creek::linalg::detail {
namespace {

constexpr std::size_t line = 64;
constexpr std::size_t large_page = std::size_t{2} << 20;
/// Blocks from this size on may take many pages: the free ones are shared by all threads, because
/// the thread that packs a panel is seldom the last to need it.
constexpr std::size_t large = large_page / 2;
/// Larger blocks are not kept: work on them takes far longer than fresh pages do.
constexpr std::size_t largest_kept = std::size_t{32} << 20;

pack_block allocate(std::size_t bytes) {
  const std::size_t alignment = bytes >= large ? large_page : line;
  if (bytes > static_cast<std::size_t>(-1) - alignment) throw std::bad_alloc();
  bytes = (bytes + alignment - 1) / alignment * alignment;
  void* data = std::aligned_alloc(alignment, bytes);
  if (data == nullptr) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  if (alignment == large_page) (void)madvise(data, bytes, MADV_HUGEPAGE);  // only a hint
#endif
  return {data, bytes};
}

/// Returns whether a block is large enough without wasting most of its memory.
bool suits(const pack_block& each, std::size_t bytes) noexcept {
  return each.bytes >= bytes && each.bytes / 4 <= bytes + large_page;
}

/// Free blocks of one thread.
class shelf {
 public:
  shelf() = default;
  shelf(const shelf&) = delete;
  shelf& operator=(const shelf&) = delete;
  ~shelf() {
    for (pack_block& each : blocks_) std::free(each.data);
  }

  /// Returns the smallest block that suits, or an empty one.
  pack_block take(std::size_t bytes) noexcept {
    pack_block* best = nullptr;
    for (pack_block& each : blocks_) {
      if (!suits(each, bytes)) continue;
      if (best == nullptr || each.bytes < best->bytes) best = &each;
    }
    return best == nullptr ? pack_block{} : std::exchange(*best, {});
  }
  /// Frees the smaller one of `given` and the smallest block, and keeps the other.
  void put(pack_block given) noexcept {
    pack_block& least = *std::min_element(
        blocks_.begin(), blocks_.end(),
        [](const pack_block& a, const pack_block& b) { return a.bytes < b.bytes; });
    if (least.bytes < given.bytes) std::swap(least, given);
    std::free(given.data);
  }

 private:
  std::array<pack_block, 4> blocks_{};
};

// Not inlined: the strand may have moved to another thread since the last call.
[[gnu::noinline]] shelf& own_shelf() {
  thread_local shelf own;
  return own;
}

/// Free large blocks of all threads. Uses no lock, because fork() could copy a held one: a thread
/// examines a block only after taking it out of its place. A kept block begins with its size.
class shared_shelf {
 public:
  pack_block take(std::size_t bytes) noexcept {
    for (auto& place : places_) {
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      void* const data = place.exchange(nullptr, std::memory_order_acquire);
      if (data == nullptr) continue;
      sanitizer::acquired(&place);
      const pack_block found{data, *static_cast<std::size_t*>(data)};
      if (suits(found, bytes)) return found;
      put(found);
    }
    return {};
  }
  void put(pack_block given) noexcept {
    *static_cast<std::size_t*>(given.data) = given.bytes;
    for (auto& place : places_) {
      void* nothing = nullptr;
      sanitizer::releases(&place);
      if (place.compare_exchange_strong(nothing, given.data, std::memory_order_release,
                                        std::memory_order_relaxed)) {
        return;
      }
    }
    // All places are taken: replace any block, so that sizes no longer in use disappear.
    const std::size_t victim = next_.fetch_add(1, std::memory_order_relaxed) % places_.size();
    std::atomic<void*>& place = places_[victim];
    sanitizer::releases(&place);
    void* const old = place.exchange(given.data, std::memory_order_acq_rel);
    sanitizer::acquired(&place);
    std::free(old);
  }

 private:
  std::array<std::atomic<void*>, 8> places_{};
  std::atomic<std::size_t> next_{0};
};

constinit shared_shelf large_blocks;

}  // namespace

pack_memory::pack_memory(std::size_t bytes) {
  block_ = bytes >= large ? large_blocks.take(bytes) : own_shelf().take(bytes);
  if (block_.data == nullptr) block_ = allocate(std::max<std::size_t>(bytes, line));
}

pack_memory::~pack_memory() {
  if (block_.bytes > largest_kept) {
    std::free(block_.data);
  } else if (block_.bytes >= large) {
    large_blocks.put(block_);
  } else {
    own_shelf().put(block_);
  }
}

}  // namespace creek::linalg::detail
