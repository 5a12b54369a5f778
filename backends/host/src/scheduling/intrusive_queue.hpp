// SPDX-License-Identifier: Apache-2.0
// A locked first-in, first-out queue of objects that carry their own link.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <creek/core/threads/spin_lock.hpp>

namespace creek::host_backend {

/// Queue of `T`s linked through `Link`; any thread may use it. An element is in one queue at a time
/// and is not owned. The count changes under the lock and is read without it, so an empty queue
/// costs one load; push() releases what its caller wrote before to whoever reads the count.
template <class T, T* T::*Link>
class intrusive_queue {
 public:
  void push(T& added) noexcept {
    added.*Link = nullptr;
    const std::lock_guard lock(lock_);
    (tail_ != nullptr ? tail_->*Link : head_) = &added;
    tail_ = &added;
    count_.fetch_add(1, std::memory_order_release);
  }
  T* pop() noexcept {
    if (empty()) return nullptr;
    const std::lock_guard lock(lock_);
    T* taken = head_;
    if (taken == nullptr) return nullptr;
    head_ = taken->*Link;
    if (head_ == nullptr) tail_ = nullptr;
    count_.fetch_sub(1, std::memory_order_relaxed);
    return taken;
  }
  bool empty() const noexcept { return size() == 0; }
  std::uint32_t size() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  spin_lock lock_;
  T* head_ = nullptr;
  T* tail_ = nullptr;
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace creek::host_backend
