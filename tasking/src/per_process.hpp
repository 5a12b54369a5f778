// SPDX-License-Identifier: Apache-2.0
// One object per process, of a kind that threads use until the process ends.
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <new>

#include <creek/core/language.hpp>

namespace creek::detail {

/// The `T` of this process: made when it is first asked for, and never destroyed, since threads may
/// use it for as long as the process lives. A child of fork() gets another one: the parent's stays
/// as it was, with threads that the child does not have. Any thread.
template <class T>
class per_process {
 public:
  /// Returns null if there is no memory.
  static T* get() noexcept {
    static_cast<void>(registered);
    kept* there = current.load(std::memory_order_acquire);
    if (there != nullptr) return &there->object;
    std::unique_ptr<kept> added(new (std::nothrow) kept);
    if (added == nullptr) return nullptr;
    added->of_parent = inherited;
    if (current.compare_exchange_strong(there, added.get(), std::memory_order_acq_rel))
      there = added.release();
    return &there->object;
  }
  /// Returns null if nobody has asked for one.
  static T* if_made() noexcept {
    kept* const there = current.load(std::memory_order_acquire);
    return there == nullptr ? nullptr : &there->object;
  }

 private:
  struct kept {
    T object;
    kept* of_parent = nullptr;  ///< so that leak checkers find it
  };

  static void leave_to_parent() noexcept {
    if (kept* const left = current.exchange(nullptr, std::memory_order_relaxed)) inherited = left;
  }

  static constinit inline std::atomic<kept*> current{nullptr};
  static constinit inline kept* inherited = nullptr;  ///< in a child of fork()
  static inline const int registered = pthread_atfork(nullptr, nullptr, leave_to_parent);
};

}  // namespace creek::detail
