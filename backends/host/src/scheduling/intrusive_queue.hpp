// SPDX-License-Identifier: Apache-2.0
// A locked first-in, first-out queue of objects that carry their own link.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <creek/core/threads/spin_lock.hpp>

namespace creek::host_backend {

/// Queue of `T`s linked through `Link`; any thread may use it. An element is in one queue at a time
/// and is not owned. The counts change under the lock and are read without it, so an empty queue
/// costs two loads; push() releases what its caller wrote before to whoever reads the size.
template <class T, T* T::*Link>
class intrusive_queue {
 public:
  void push(T& added) noexcept {
    added.*Link = nullptr;
    const std::lock_guard lock(lock_);
    (tail_ != nullptr ? tail_->*Link : head_) = &added;
    tail_ = &added;
    increment(added_, std::memory_order_release);
  }
  T* pop() noexcept {
    if (empty()) return nullptr;
    const std::lock_guard lock(lock_);
    T* taken = head_;
    if (taken == nullptr) return nullptr;
    head_ = taken->*Link;
    if (head_ == nullptr) tail_ = nullptr;
    increment(taken_, std::memory_order_relaxed);
    return taken;
  }
  bool empty() const noexcept { return size() == 0; }
  /// Returns the number of elements, or more if some are taken meanwhile.
  std::uint32_t size() const noexcept {
    const std::uint32_t before = taken();
    return added_.load(std::memory_order_acquire) - before;
  }
  /// Returns how many elements were taken so far.
  std::uint32_t taken() const noexcept { return taken_.load(std::memory_order_acquire); }

 private:
  /// With the lock held.
  static void increment(std::atomic<std::uint32_t>& counter, std::memory_order order) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, order);
  }

  spin_lock lock_;
  T* head_ = nullptr;
  T* tail_ = nullptr;
  std::atomic<std::uint32_t> added_{0}, taken_{0};
};

}  // namespace creek::host_backend
