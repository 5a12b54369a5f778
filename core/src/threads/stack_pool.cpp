// SPDX-License-Identifier: Apache-2.0
// The pool of unused stacks. A thread that finds it in use does not wait but asks the system, so a
// child of fork() whose parent had another thread in here goes on without a pool.
#include <creek/core/threads/stack_pool.hpp>

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <mutex>
#include <span>

#include <creek/core/threads/spin_lock.hpp>
#include <creek/core/threads/stack_switch.hpp>

#include "sanitizer_interface.hpp"

namespace creek {

namespace {

/// Unmaps a stack that LeakSanitizer does not scan any more.
void unmap_stack(std::byte* low, std::size_t size) noexcept {
  munmap(low - guard_bytes, guard_bytes + size);
}

class stack_pool {
 public:
  /// Returns a stack, or nullptr if there is none of this size.
  std::byte* take(std::size_t size) noexcept {
    const std::unique_lock lock(lock_, std::try_to_lock);
    if (!lock || size != size_ || count() == 0) return nullptr;
    const std::size_t left = count() - 1;
    count_.store(left, std::memory_order_relaxed);
    return stacks_[left];
  }
  /// Returns false if the caller is to unmap the stack.
  bool give(std::byte* low, std::size_t size) noexcept {
    if (size > stack_pool_limits::bytes) return false;
    const std::unique_lock lock(lock_, std::try_to_lock);
    if (!lock || is_closed_) return false;
    if (size != size_) {
      unmap_all();
      size_ = size;
    }
    if (count() == stacks_.size()) return false;
    if (count() >= stack_pool_limits::warm) madvise(low, size, MADV_DONTNEED);
    stacks_[count()] = low;
    count_.store(count() + 1, std::memory_order_relaxed);
    return true;
  }
  /// Unmaps what it holds, and keeps nothing from now on.
  void close() noexcept {
    const std::unique_lock lock(lock_, std::try_to_lock);
    if (!lock) return;
    is_closed_ = true;
    unmap_all();
  }
  std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  void unmap_all() noexcept {
    for (std::byte* low : std::span(stacks_).first(count())) unmap_stack(low, size_);
    count_.store(0, std::memory_order_relaxed);
  }

  spin_lock lock_;
  bool is_closed_ = false;
  std::size_t size_ = 0;
  std::atomic<std::size_t> count_{0};  ///< changed under the lock
  std::array<std::byte*, stack_pool_limits::stacks> stacks_{};
};

// Never destroyed: a static runtime may end after the objects here.
constinit stack_pool pool;

/// Empties the pool at the end of the process, or when dlclose() takes this code away.
struct pool_closer {
  ~pool_closer() { pool.close(); }
} closer;

}  // namespace

std::byte* take_stack(std::size_t size) noexcept {
  std::byte* const low = pool.take(size);
  if (low == nullptr) return map_guarded(size);
  search_for_pointers(low, size);
  return low;
}

void give_back_stack(std::byte* low, std::size_t size) noexcept {
  // An unused stack keeps nothing alive.
  end_search_for_pointers(low, size);
  if (!pool.give(low, size)) unmap_stack(low, size);
}

std::size_t pooled_stacks() noexcept {
  return pool.count();
}

}  // namespace creek
