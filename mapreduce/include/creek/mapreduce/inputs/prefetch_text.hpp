// SPDX-License-Identifier: Apache-2.0
// Fetching text ahead of the loop that reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

/// Bytes ahead at which loops that read on without a pause fetch.
inline constexpr std::size_t fetched_ahead = 2048;

/// Has the processor fetch the line that is `bytes` after `place`, and need not be in the text,
/// into the second level of its caches: if there is other work between blocks of text, processors
/// fetch too little themselves, and nothing beyond a page.
inline void prefetch_text(const void* place, std::size_t bytes) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(place) + bytes;
#if defined(__x86_64__)
  asm volatile("prefetcht1 (%0)" : : "r"(at));
#else
  __builtin_prefetch(reinterpret_cast<const void*>(at), 0, 2);
#endif
}

}  // namespace creek::mapreduce
