// SPDX-License-Identifier: Apache-2.0
// Memory for arrays of megabytes in large pages, where any of several tasks may touch a page first.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

#include <creek/core/language.hpp>

namespace creek {

/// Returns `bytes` bytes of untouched memory, aligned to `alignment`: in large pages from 8 MiB on
/// if the system has them. Throws std::bad_alloc.
[[nodiscard]] void* allocate_large(std::size_t bytes, std::size_t alignment);
void free_large(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

/// Allocator for std::vector. resize(n) and the like leave elements that are plain bytes
/// uninitialised, so that the tasks that fill the memory are the first to touch it.
template <class T>
struct large_page_allocator {
  using value_type = T;

  large_page_allocator() = default;
  template <class U>
  large_page_allocator(const large_page_allocator<U>&) noexcept {}  // NOLINT: converts by design

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_large(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* at, std::size_t count) noexcept {
    free_large(at, count * sizeof(T), alignof(T));
  }

  template <class U>
  void construct(U* at) noexcept(std::is_nothrow_default_constructible_v<U>) {
    if constexpr (!std::is_trivially_copyable_v<U>) ::new (static_cast<void*>(at)) U();
  }

  friend bool operator==(const large_page_allocator&, const large_page_allocator&) noexcept {
    return true;
  }
};

}  // namespace creek
