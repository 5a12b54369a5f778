// SPDX-License-Identifier: Apache-2.0
// Pool of reusable objects of one type, linked through a member while they are free.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace creek::linalg::detail {

/// Used by one thread at a time. Objects are created in chunks, once, and destroyed with the pool.
template <class T, T* T::*Next>
class recycling_pool {
 public:
  /// Makes sure that the next `count` calls of take() do not allocate.
  void reserve(std::size_t count) {
    while (free_count_ < count) grow(count - free_count_);
  }
  T* take() noexcept {
    T* taken = free_;
    free_ = taken->*Next;
    __builtin_prefetch(free_, 1);  // for the next call: its object has left the cache
    --free_count_;
    return taken;
  }
  void put(T* object) noexcept {
    object->*Next = free_;
    free_ = object;
    ++free_count_;
  }
  /// Returns what the next take() does, if there is room.
  T& next() const noexcept { return *free_; }
  std::size_t available() const noexcept { return free_count_; }
  /// Number of objects, free or not.
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t bytes() const noexcept { return capacity_ * sizeof(T); }

 private:
  void grow(std::size_t needed) {
    const std::size_t size = std::max(needed, std::clamp<std::size_t>(capacity_, 16, 1024));
    chunks_.reserve(chunks_.size() + 1);
    chunks_.push_back(std::make_unique<T[]>(size));
    // Objects of a chunk are taken in order: neighbours in time are neighbours in memory.
    for (std::size_t i = size; i-- > 0;) put(&chunks_.back()[i]);
    capacity_ += size;
  }

  std::vector<std::unique_ptr<T[]>> chunks_;
  T* free_ = nullptr;
  std::size_t free_count_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace creek::linalg::detail
