// SPDX-License-Identifier: Apache-2.0
// Cuts stacks from slabs and guards them.
#include <creek/core/threads/stack_slabs.hpp>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <new>

#include "guard_mark.hpp"
#include "sanitizer_interface.hpp"

namespace creek {

namespace {

/// Stacks of the first slab; each further one has twice as many as the one before.
constexpr std::size_t first_stacks = 64;
constexpr std::size_t max_stacks = 4096;

/// Guards of all slabs that are mappings of their own.
std::atomic<std::size_t> all_mapped_guards{0};

}  // namespace

slab_stack stack_slabs::take() noexcept {
  std::byte* const begin = cut();
  if (begin == nullptr) return {};
  const slab_stack cut_off{begin + guard_bytes, install_guard(begin)};
  search_for_pointers(cut_off.low, stack_bytes_);
  return cut_off;
}

/// Makes the `guard_bytes` at `begin` inaccessible; returns false if they are not.
bool stack_slabs::install_guard(std::byte* begin) noexcept {
  if (mark_guard(begin)) return true;
  if (all_mapped_guards.fetch_add(1, std::memory_order_relaxed) < max_mapped_guards &&
      mprotect(begin, guard_bytes, PROT_NONE) == 0) {
    mapped_guards_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  all_mapped_guards.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

/// Returns the lowest byte of a guard and its stack, or null with the reason in errno.
std::byte* stack_slabs::cut() noexcept {
  const std::lock_guard lock(mutex_);
  const bool is_used_up = slabs_.empty() || slabs_.back().taken == slabs_.back().stacks;
  if (is_used_up && !map_slab()) {
    errno = ENOMEM;
    return nullptr;
  }
  slab& last = slabs_.back();
  return last.begin + last.taken++ * stride();
}

/// Maps the next slab: a smaller one if there is not enough address space or memory to reserve.
bool stack_slabs::map_slab() noexcept {
  try {
    slabs_.reserve(slabs_.size() + 1);
  } catch (const std::bad_alloc&) {
    return false;
  }
  std::size_t stacks =
      slabs_.empty() ? first_stacks : std::min(max_stacks, 2 * slabs_.back().stacks);
  for (; stacks > 0; stacks /= 2) {
    if (stride() > SIZE_MAX / stacks) continue;
    void* const mapping = mmap(nullptr, stacks * stride(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) continue;
    // A touched page must cost a page, not a huge one.
    (void)madvise(mapping, stacks * stride(), MADV_NOHUGEPAGE);
    slabs_.push_back({static_cast<std::byte*>(mapping), stacks, 0});
    return true;
  }
  return false;
}

stack_slabs::~stack_slabs() {
  for (const slab& each : slabs_) {
    if (lsan_unregister_region != nullptr) {
      for (std::size_t i = 0; i < each.taken; ++i) {
        end_search_for_pointers(each.begin + i * stride() + guard_bytes, stack_bytes_);
      }
    }
    munmap(each.begin, each.stacks * stride());
  }
  all_mapped_guards.fetch_sub(mapped_guards_.load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
}

// Not instrumented: what an overflow has written there is nobody's.
__attribute__((no_sanitize("address", "thread"))) bool has_overflowed(
    const std::byte* low) noexcept {
  constexpr std::size_t words = 512 / sizeof(std::uint64_t);
  const auto* below = reinterpret_cast<const volatile std::uint64_t*>(low) - words;
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < words; ++i) found |= below[i];
  return found != 0;
}

}  // namespace creek
