// SPDX-License-Identifier: Apache-2.0
// Ranges of addresses in which a missing page is no reason to die. The protocol between the threads
// that add and remove ranges and the signal handler is in bus_guard.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace creek::mapreduce::detail {

/// A node of the list that the handler walks. Never freed, reused.
struct guarded_range {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};  // 0: the node is free
  std::atomic<bool> lost{false};
  guarded_range* next = nullptr;  // constant once the node is in the list
};

/// Guards [begin, begin + bytes) from now on. The first range installs the handler.
[[nodiscard]] guarded_range* guard(const void* begin, std::size_t bytes);

/// Ends it; call after the last access and before unmapping. The last range takes the handler away.
void unguard(guarded_range* range) noexcept;

}  // namespace creek::mapreduce::detail
