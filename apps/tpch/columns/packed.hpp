// SPDX-License-Identifier: Apache-2.0
// Whole numbers kept in as few bytes as their range needs.
#pragma once

#include <algorithm>
#include <creek/core/threads/prefetch.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "buffer.hpp"

namespace creek::tpch {

/// A view of numbers: value(i) = base + factor * code(i), the codes unsigned and 1, 2, 4 or 8 bytes
/// wide. The array is followed by `read_slack` readable bytes. Any thread.
///
/// The array may lie in a mapped file, which another process may write to at any time: two reads of
/// one row may then differ. Even then a code is at most `last_code`, and may index memory; a value
/// may be anything, and must be looked up or bounded, as must whatever is read through as().
struct packed {
  const std::byte* codes = nullptr;
  std::size_t size = 0;
  unsigned width = 1;
  std::int64_t base = 0;
  std::int64_t factor = 1;
  std::uint64_t last_code = 0;  ///< no code is greater than this

  [[nodiscard]] std::uint64_t code(std::size_t i) const noexcept {
    return std::min(read(i), last_code);
  }
  [[nodiscard]] std::int64_t value_of(std::uint64_t code) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(base) +
                                     static_cast<std::uint64_t>(factor) * code);
  }
  [[nodiscard]] std::int64_t value(std::size_t i) const noexcept { return value_of(read(i)); }
  [[nodiscard]] std::int64_t least() const noexcept { return base; }
  [[nodiscard]] std::int64_t greatest() const noexcept { return value_of(last_code); }
  [[nodiscard]] std::size_t bytes() const noexcept { return size * width; }
  /// Prefetches the cache line of a code that will be needed soon.
  void prefetch(std::size_t i) const noexcept { prefetch_to_read(codes + i * width); }
  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return reinterpret_cast<const T*>(codes);
  }

 private:
  [[nodiscard, gnu::always_inline]] std::uint64_t read(std::size_t i) const noexcept {
    switch (width) {  // the same one each time: predicted
      case 1:
        return once(as<std::uint8_t>() + i);
      case 2:
        return once(as<std::uint16_t>() + i);
      case 4:
        return once(as<std::uint32_t>() + i);
      default:
        return once(as<std::uint64_t>() + i);
    }
  }
  /// Reads atomically, so that the compiler does not read a second time after a comparison.
  template <class T>
  [[nodiscard, gnu::always_inline]] static T once(const T* at) noexcept {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
};

/// Calls f(T{}) with the unsigned type of `width` bytes.
template <class F>
decltype(auto) with_width(unsigned width, F&& f) {
  switch (width) {
    case 1:
      return f(std::uint8_t{});
    case 2:
      return f(std::uint16_t{});
    case 4:
      return f(std::uint32_t{});
    default:
      return f(std::uint64_t{});
  }
}

/// Packing of a set of numbers, known once all of them have been seen.
struct packing {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t greatest = std::numeric_limits<std::int64_t>::min();
  bool hundreds = true;  ///< all are multiples of 100, as decimals with whole values

  void see(std::span<const std::int64_t> values) noexcept;
  void join(const packing& other) noexcept {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
    hundreds = hundreds && other.hundreds;
  }
  /// Returns the view of these numbers, without codes and size yet. An empty set is kept as bytes.
  [[nodiscard]] packed shape() const noexcept;
};

/// Writes `values` as codes of `shape`, which must have room for them, from element `at` on.
void pack(std::span<const std::int64_t> values, const packed& shape, std::byte* codes,
          std::size_t at) noexcept;

/// Writes all of `from` as codes of `shape`; the packing of `from` was joined into that of `shape`.
void repack(const packed& from, const packed& shape, std::byte* codes, std::size_t at) noexcept;

}  // namespace creek::tpch
