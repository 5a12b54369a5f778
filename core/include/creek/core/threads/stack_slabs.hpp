// SPDX-License-Identifier: Apache-2.0
// Stacks by the thousand: cut from few large mappings, since the kernel limits the number of
// mappings of a process (vm.max_map_count, 65530 by default).
// For authors of backends.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include <creek/core/language.hpp>
#include <creek/core/threads/stack_switch.hpp>

namespace creek {

/// A stack of a slab.
struct slab_stack {
  std::byte* low = nullptr;  ///< lowest usable byte; null if the system refused
  bool guarded = false;      ///< an access to the `guard_bytes` below `low` is a fault
};

/// Stacks of one size for one owner. They are unmapped together, when the slabs are destroyed.
class stack_slabs {
 public:
  explicit stack_slabs(std::size_t stack_bytes) noexcept : stack_bytes_(stack_bytes) {}
  ~stack_slabs();
  stack_slabs(const stack_slabs&) = delete;
  stack_slabs& operator=(const stack_slabs&) = delete;

  /// Returns a stack that was not used before, or a null one with the reason in errno. Only pages
  /// that are touched cost memory. The guard below it is a mark in the page table where the kernel
  /// has such marks (Linux 6.13). An older kernel needs a mapping per guard; after
  /// `max_mapped_guards` of those in the process, or if it refuses one, the stack has no guard.
  /// Any thread.
  slab_stack take() noexcept;

  static constexpr std::size_t max_mapped_guards = 8192;

 private:
  struct slab {
    std::byte* begin;
    std::size_t stacks;  ///< number that fit
    std::size_t taken;
  };
  std::size_t stride() const noexcept { return guard_bytes + stack_bytes_; }
  std::byte* cut() noexcept;
  bool map_slab() noexcept;
  bool install_guard(std::byte* begin) noexcept;

  const std::size_t stack_bytes_;
  std::atomic<std::size_t> mapped_guards_{0};
  std::mutex mutex_;
  std::vector<slab> slabs_;  ///< only the last one has stacks left
};

/// Returns whether the stack at `low`, which has no guard, has overflowed: the 512 bytes below it
/// are not zero as they were. A frame that steps over them without writing is not seen.
[[nodiscard]] bool has_overflowed(const std::byte* low) noexcept;

}  // namespace creek
