// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses in which a missing page does not end the process. bus_guard.cpp describes the
// protocol between the threads that add and remove ranges and the signal handler.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace creek::detail {

/// Node of the list that the handler walks. Reused, never freed.
struct guarded_range {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};  // 0: the node is free
  std::atomic<bool> lost{false};
  guarded_range* next = nullptr;  // constant once the node is in the list
};

/// Guards [begin, begin + bytes) from now on. The first range installs the handler.
[[nodiscard]] guarded_range* guard(const void* begin, std::size_t bytes);

/// Ends a guard; called after the last access, before unmapping. The last one removes the handler.
void unguard(guarded_range* range) noexcept;

}  // namespace creek::detail
