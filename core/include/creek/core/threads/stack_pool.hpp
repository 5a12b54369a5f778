// SPDX-License-Identifier: Apache-2.0
// Stacks that outlive their runtime: to map one, protect its guard, fault its first pages in and
// unmap it again costs 10 to 20 us, and a program that makes many short runtimes would pay that for
// every worker.
// For authors of backends.
#pragma once

#include <cstddef>

#include <creek/core/language.hpp>

namespace creek {

/// Bounds of the process's pool of unused stacks, all of which have one size. It holds at most
/// 16 x 8 MiB of memory, however many runtimes there were, and 16 MiB more that are
/// memory only where the process locks all it maps.
struct stack_pool_limits {
  static constexpr std::size_t stacks = 128;
  /// The first stacks keep their pages; those beyond have given them back.
  static constexpr std::size_t warm = 16;
  /// Larger stacks are not kept.
  static constexpr std::size_t bytes = std::size_t{8} << 20;
};

/// Returns the lowest byte of a stack of `size` bytes, whole pages, with a guard below: from the
/// pool, which maps several at a time when it is empty, or by map_guarded(). What the memory holds
/// is undefined. Null, with the reason in errno, if the system refuses. Any thread; never blocks,
/// and can be used after fork() at any moment.
std::byte* take_stack(std::size_t size) noexcept;
/// Takes back what take_stack(size) returned, when nothing uses it any more. The pool keeps it or
/// unmaps it; a stack of another size than those it holds replaces them. Like take_stack(), it
/// synchronises with the next user of the memory.
void give_back_stack(std::byte* low, std::size_t size) noexcept;
/// Returns the number of stacks in the pool; a hint.
[[nodiscard]] std::size_t pooled_stacks() noexcept;

}  // namespace creek
