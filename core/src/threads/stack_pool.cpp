// SPDX-License-Identifier: Apache-2.0
// The pool of unused stacks. A thread that finds it in use for long does not wait but asks the
// system, so a child of fork() whose parent had another thread in here goes on without a pool.
#include <creek/core/threads/stack_pool.hpp>

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <mutex>
#include <span>

#include <creek/core/threads/spin_lock.hpp>
#include <creek/core/threads/stack_switch.hpp>

#include "guard_mark.hpp"
#include "sanitizer_interface.hpp"

namespace creek {

namespace {

/// Stacks that are mapped together but not guarded yet, as workers that begin to wait need them one
/// soon after the other. Those that are left go with the pool.
constexpr std::size_t batch_bytes = std::size_t{16} << 20;

class stack_pool {
 public:
  /// Returns a stack, or nullptr if there is none and no batch of them can be had.
  std::byte* take(std::size_t size) noexcept {
    const patient_lock lock(lock_);
    if (!lock || is_closed_) return nullptr;
    if (size != size_ && (count() != 0 || fresh_ != 0)) return nullptr;
    size_ = size;
    if (count() != 0) {
      const std::size_t left = count() - 1;
      count_.store(left, std::memory_order_relaxed);
      return stacks_[left];
    }
    if (fresh_ == 0 && !map_batch()) return nullptr;
    if (!make_guard(next_fresh_)) return nullptr;
    std::byte* const low = next_fresh_ + guard_bytes;
    next_fresh_ += stride();
    --fresh_;
    return low;
  }
  /// Returns false if the caller is to unmap the stack.
  bool give(std::byte* low, std::size_t size) noexcept {
    if (size > stack_pool_limits::bytes) return false;
    const patient_lock lock(lock_);
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
    const patient_lock lock(lock_);
    if (!lock) return;
    is_closed_ = true;
    unmap_all();
  }
  std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  /// A lock for which a thread does not wait longer than others usually hold it.
  class patient_lock {
   public:
    explicit patient_lock(spin_lock& lock) noexcept : lock_(lock, std::defer_lock) {
      for (int tries = 0; tries < 1000 && !lock_.try_lock(); ++tries) cpu_pause();
    }
    explicit operator bool() const noexcept { return lock_.owns_lock(); }

   private:
    std::unique_lock<spin_lock> lock_;
  };

  std::size_t stride() const noexcept { return guard_bytes + size_; }
  bool map_batch() noexcept {
    const std::size_t stacks = batch_bytes / stride();
    if (stacks < 2) return false;
    void* const mapping = mmap(nullptr, stacks * stride(), PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED) return false;
    // A touched page must cost a page, not a huge one.
    (void)madvise(mapping, stacks * stride(), MADV_NOHUGEPAGE);
    next_fresh_ = static_cast<std::byte*>(mapping);
    fresh_ = stacks;
    return true;
  }
  void unmap_all() noexcept {
    for (std::byte* low : std::span(stacks_).first(count())) unmap_with_guard(low, size_);
    count_.store(0, std::memory_order_relaxed);
    if (fresh_ != 0) munmap(next_fresh_, fresh_ * stride());
    fresh_ = 0;
  }

  spin_lock lock_;
  bool is_closed_ = false;
  std::size_t size_ = 0;
  std::atomic<std::size_t> count_{0};  ///< changed under the lock
  std::array<std::byte*, stack_pool_limits::stacks> stacks_{};
  std::size_t fresh_ = 0;  ///< stacks of the batch that were never taken
  std::byte* next_fresh_ = nullptr;
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
  if (!pool.give(low, size)) unmap_with_guard(low, size);
}

std::size_t pooled_stacks() noexcept {
  return pool.count();
}

}  // namespace creek
