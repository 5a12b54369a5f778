// SPDX-License-Identifier: Apache-2.0
// Size of an item for workers that share no memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>

#include <creek/core/charge.hpp>

namespace creek::stream {

/// Returns how many bytes move with an item from one core to another. That is what its member
/// transfer_bytes() says, if it has one, which must not throw; for ranges, such as strings and
/// vectors, the object with its elements; else the size of the object, without what it points to.
template <class T>
[[nodiscard]] std::size_t transfer_bytes(const T& item) noexcept {
  if constexpr (requires {
                  { item.transfer_bytes() } -> std::convertible_to<std::size_t>;
                }) {
    return item.transfer_bytes();
  } else if constexpr (std::ranges::sized_range<const T> && !std::is_trivially_copyable_v<T>) {
    using element = std::ranges::range_value_t<const T>;
    std::size_t bytes = sizeof(T);
    if constexpr (std::is_trivially_copyable_v<element>) {
      bytes += static_cast<std::size_t>(std::ranges::size(item)) * sizeof(element);
    } else {
      for (const auto& each : item) bytes += transfer_bytes(each);
    }
    return bytes;
  } else {
    return sizeof(T);
  }
}

namespace detail {
/// States that an item is written to, or read from, block `block` of memory that all share.
template <class T>
void charge_shared_item(const T& item, std::uint64_t block, bool is_written) {
  if (execution_observer::current() == nullptr) [[likely]]
    return;
  if (is_written) {
    charge_shared_write(block, transfer_bytes(item));
  } else {
    charge_shared_read(block, transfer_bytes(item));
  }
}
}  // namespace detail

}  // namespace creek::stream
