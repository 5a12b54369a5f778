// SPDX-License-Identifier: Apache-2.0
// Messages that pairs are written into: as bytes, one after the other, in blocks that never move.
#pragma once

#include <algorithm>
#include <concepts>
#include <creek/core/messages/wire.hpp>
#include <creek/mapreduce/tables/pair_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace creek::mapreduce::detail {

/// Types whose byte form is written here directly, once its size is known: the bytes are those of
/// wire<T>, which appends them piece by piece.
template <class T>
inline constexpr bool has_sized_form =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string> ||
    std::same_as<T, std::string_view>;
template <class... T>
inline constexpr bool has_sized_form<std::tuple<T...>> = (has_sized_form<T> && ...);
template <class First, class Second>
inline constexpr bool has_sized_form<std::pair<First, Second>> =
    has_sized_form<First>&& has_sized_form<Second>;

/// Returns the size of the byte form. Throws what wire<T>::put throws for text that is too long.
template <class T>
[[nodiscard]] std::size_t wire_size(const T& object) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return sizeof object;
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    if (object.size() > std::numeric_limits<std::uint32_t>::max()) [[unlikely]] {
      std::vector<std::byte> refused;
      wire<T>::put(refused, object);  // throws
    }
    return sizeof(std::uint32_t) + object.size();
  } else {
    return std::apply([](const auto&... parts) { return (wire_size(parts) + ... + 0); }, object);
  }
}

/// Writes an object that has a size; advances `at`.
template <class T>
void write_wire(std::byte*& at, const T& object) {
  const auto copy = [&](const void* from, std::size_t size) {
    if (size != 0) std::memcpy(at, from, size);
    at += size;
  };
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    copy(&object, sizeof object);
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    const auto length = static_cast<std::uint32_t>(object.size());
    copy(&length, sizeof length);
    copy(object.data(), object.size());
  } else {
    std::apply([&](const auto&... parts) { (write_wire(at, parts), ...); }, object);
  }
}

/// Bytes for one rank, written by one worker. Each block is a message.
class message_blocks {
 public:
  struct block {
    std::unique_ptr<char[]> bytes;
    std::size_t size;
  };

  /// Returns room for so many bytes in one block.
  [[nodiscard]] std::byte* take(std::size_t bytes) {
    if (bytes > left_) grow(bytes);
    char* const room = next_;
    next_ += bytes;
    left_ -= bytes;
    blocks_.back().size += bytes;
    return reinterpret_cast<std::byte*>(room);
  }
  /// Appends a pair.
  template <class Key, class Value>
  void put(const Key& key, const Value& value) {
    if constexpr (has_sized_form<Key> && has_sized_form<Value>) {
      std::byte* at = take(wire_size(key) + wire_size(value));
      write_wire(at, key);
      write_wire(at, value);
    } else {
      scratch_.clear();
      put_pair(scratch_, key, value);
      std::memcpy(take(scratch_.size()), scratch_.data(), scratch_.size());
    }
  }
  [[nodiscard]] std::span<block> blocks() noexcept { return blocks_; }
  /// Returns about how many bytes of memory the blocks have.
  [[nodiscard]] std::size_t capacity() const noexcept {
    std::size_t sum = left_;
    for (const block& one : blocks_) sum += one.size;
    return sum;
  }
  void clear() { *this = message_blocks(); }

 private:
  static constexpr std::size_t min_block = 4 << 10, max_block = 1 << 20;

  void grow(std::size_t bytes) {
    const std::size_t usual =
        std::min(max_block, min_block << std::min<std::size_t>(blocks_.size(), 8));
    left_ = std::max(bytes, usual);
    blocks_.push_back({std::make_unique_for_overwrite<char[]>(left_), 0});
    next_ = blocks_.back().bytes.get();
  }

  std::vector<block> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::vector<std::byte> scratch_;
};

}  // namespace creek::mapreduce::detail
