// SPDX-License-Identifier: Apache-2.0
// Fetching cache lines ahead of their use.
#pragma once

#include <creek/core/language.hpp>

namespace creek {

/// Has the processor fetch the cache line at `place` to be written, so that no other cache has it
/// when the store comes. The compiler's own builtin fetches a line to be read, unless it is told
/// that the processor has the instruction; those that lack it do nothing.
inline void prefetch_to_write(const void* place) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place, 1);
#endif
}

/// Has the processor fetch the cache line at `place`. In a function that does nothing else the
/// compiler's own builtin is no effect: GCC 12 drops calls of such a function unless it has inlined
/// them before.
inline void prefetch_to_read(const void* place) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetcht0 %0" : : "m"(*static_cast<const char*>(place)));
#else
  __builtin_prefetch(place);
#endif
}

}  // namespace creek
