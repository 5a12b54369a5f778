// SPDX-License-Identifier: Apache-2.0
// An object that several threads own. std::shared_ptr does the same, but where a program is
// compiled with ThreadSanitizer and the library is not, the sanitizer sees some of its drops only,
// and reports the others as races. These are announced.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include <creek/core/threads/sanitizer.hpp>

namespace creek {

template <class T>
class counted_ptr {
 public:
  counted_ptr() = default;
  template <class... Arguments>
  [[nodiscard]] static counted_ptr make(Arguments&&... arguments) {
    return counted_ptr(new owned(std::forward<Arguments>(arguments)...));
  }
  counted_ptr(const counted_ptr& from) noexcept : owned_(from.owned_) {
    if (owned_ != nullptr) owned_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  counted_ptr(counted_ptr&& from) noexcept : owned_(std::exchange(from.owned_, nullptr)) {}
  counted_ptr& operator=(counted_ptr from) noexcept {
    std::swap(owned_, from.owned_);
    return *this;
  }
  ~counted_ptr() {
    if (owned_ == nullptr) return;
    sanitizer::releases(&owned_->owners);
    if (owned_->owners.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    sanitizer::acquired(&owned_->owners);
    delete owned_;
  }

  [[nodiscard]] T* get() const noexcept { return owned_ != nullptr ? &owned_->object : nullptr; }
  T* operator->() const noexcept { return &owned_->object; }
  T& operator*() const noexcept { return owned_->object; }
  explicit operator bool() const noexcept { return owned_ != nullptr; }

 private:
  struct owned {
    template <class... Arguments>
    explicit owned(Arguments&&... arguments) : object(std::forward<Arguments>(arguments)...) {}
    std::atomic<std::size_t> owners{1};
    T object;
  };
  explicit counted_ptr(owned* made) noexcept : owned_(made) {}

  owned* owned_ = nullptr;
};

}  // namespace creek
