// SPDX-License-Identifier: Apache-2.0
// Guards of stacks that are marks in the page table. Unlike protected pages they need no mapping of
// their own, and no exclusive lock on the process's mappings to make one.
#pragma once

#include <cstddef>

namespace creek {

/// Marks the `guard_bytes` at `begin` as inaccessible; returns false if the kernel cannot do that
/// (before Linux 6.13, or for locked memory). Any thread.
bool mark_guard(std::byte* begin) noexcept;
/// Makes the `guard_bytes` at `begin` inaccessible by a mark or else by a mapping of their own;
/// returns false, with the reason in errno, if the system refuses. Any thread.
bool make_guard(std::byte* begin) noexcept;
/// Unmaps the stack of `size` bytes at `low` and its guard, or gives back its pages if the system
/// has no room to cut it out of a mapping.
void unmap_with_guard(std::byte* low, std::size_t size) noexcept;

}  // namespace creek
