// SPDX-License-Identifier: Apache-2.0
// Counts allocations: replaces operator new and delete of a program. For one of its sources.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace creek::support {

inline std::atomic<long> allocations{0};                  ///< of all threads
inline thread_local constinit long allocations_here = 0;  ///< of the calling thread

inline void count_allocation() noexcept {
  ++allocations;
  ++allocations_here;
}

}  // namespace creek::support

[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  creek::support::count_allocation();
  return std::malloc(size);
}
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment,
                                     const std::nothrow_t&) noexcept {
  creek::support::count_allocation();
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, (size + unit - 1) / unit * unit);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  if (void* memory = operator new(size, alignment, std::nothrow)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
