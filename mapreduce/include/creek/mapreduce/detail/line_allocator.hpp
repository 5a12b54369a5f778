// SPDX-License-Identifier: Apache-2.0
// Memory in whole cache lines, so that arrays and objects of different workers share no line.
#pragma once

#include <cstddef>
#include <new>
#include <optional>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

inline constexpr std::size_t line_bytes = 64;

/// An object of one worker, beside those of others in an array. Processors fetch lines in pairs.
template <class T>
struct alignas(2 * line_bytes) unshared : std::optional<T> {};

/// Allocator for std::vector.
template <class T>
struct line_allocator {
  using value_type = T;
  static constexpr std::align_val_t border{alignof(T) > line_bytes ? alignof(T) : line_bytes};

  line_allocator() = default;
  template <class U>
  line_allocator(const line_allocator<U>&) noexcept {}  // NOLINT: converts by design

  [[nodiscard]] T* allocate(std::size_t count) {
    if (count > (static_cast<std::size_t>(-1) - line_bytes) / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    const std::size_t bytes = (count * sizeof(T) + line_bytes - 1) / line_bytes * line_bytes;
    return static_cast<T*>(::operator new(bytes, border));
  }
  void deallocate(T* at, std::size_t) noexcept { ::operator delete(at, border); }

  friend bool operator==(const line_allocator&, const line_allocator&) noexcept { return true; }
};

}  // namespace creek::mapreduce::detail
