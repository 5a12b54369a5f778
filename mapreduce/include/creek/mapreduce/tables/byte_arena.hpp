// SPDX-License-Identifier: Apache-2.0
// Arena for copies of byte strings, kept until its destruction: keys that outlive the buffer they
// were read from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <creek/core/language.hpp>

namespace creek::mapreduce {

/// Growing store of bytes; addresses stay valid until destruction, also after a move. One thread.
class byte_arena {
 public:
  /// Returns a copy of `bytes` in the arena.
  [[nodiscard]] std::string_view keep(std::string_view bytes) {
    char* const copy = take(bytes.size());
    if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
    return {copy, bytes.size()};
  }
  /// Returns room for so many bytes, not aligned.
  [[nodiscard]] char* take(std::size_t bytes) {
    if (bytes > left_) grow(bytes);
    char* const room = next_;
    next_ += bytes;
    left_ -= bytes;
    return room;
  }

  /// Returns a copy of a small trivial object, suitably aligned.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] const T* keep_object(const T& object) {
    void* at = next_;
    if (next_ == nullptr || std::align(alignof(T), sizeof(T), at, left_) == nullptr) {
      grow(sizeof(T));
      at = next_;
    }
    next_ = static_cast<char*>(at) + sizeof(T);
    left_ -= sizeof(T);
    return ::new (at) T(object);
  }

  /// Returns the bytes allocated by the arena, used or not.
  [[nodiscard]] std::size_t bytes() const noexcept { return held_; }

  /// Keeps bytes that lie elsewhere.
  void adopt(std::unique_ptr<char[]> bytes, std::size_t size) {
    blocks_.push_back(std::move(bytes));
    held_ += size;
  }
  /// Moves the contents of another arena into this one.
  void adopt(byte_arena&& other) {
    for (auto& block : other.blocks_) blocks_.push_back(std::move(block));
    held_ += other.held_;
    other = byte_arena{};
  }

 private:
  static constexpr std::size_t block_bytes = 64 * 1024;

  void grow(std::size_t bytes) {
    const std::size_t size = std::max(bytes, block_bytes);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    next_ = blocks_.back().get();
    left_ = size;
    held_ += size;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  std::size_t held_ = 0;
};

}  // namespace creek::mapreduce
