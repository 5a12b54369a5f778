// SPDX-License-Identifier: Apache-2.0
// The fibers of a scheduler: those that are idle, and all that were ever mapped.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <creek/core/threads/asymmetric_fence.hpp>

#include "fiber.hpp"
#include "scheduling/intrusive_queue.hpp"

namespace creek::host_backend {

using fiber_queue = intrusive_queue<fiber, &fiber::link>;

/// Idle fibers that one worker keeps for itself with their pages, newest first, and the number that
/// it has been found to need. Only that worker uses it.
class fiber_cache {
 public:
  bool full() const noexcept { return count_ >= capacity; }
  bool has_too_few() const noexcept { return count_ < wanted_; }
  bool has_too_many() const noexcept { return count_ > max_wanted; }
  void want_more() noexcept { wanted_ = std::min(wanted_ + 1, max_wanted); }
  void want_no_more() noexcept { wanted_ = count_; }
  void push(fiber& idle) noexcept {
    idle.link = newest_;
    newest_ = &idle;
    ++count_;
  }
  fiber* pop() noexcept {
    fiber* taken = newest_;
    if (taken == nullptr) return nullptr;
    newest_ = taken->link;
    --count_;
    return taken;
  }

 private:
  static constexpr unsigned capacity = 128;
  static constexpr unsigned max_wanted = 8;
  fiber* newest_ = nullptr;
  unsigned count_ = 0;
  unsigned wanted_ = 0;  ///< one more with each fiber that was not here, as the worker's first one
};

/// Owns every fiber of a scheduler until the scheduler ends, because thieves may read the task
/// stack of any of them. An idle fiber is in one cache or in the common spares; the spares beyond
/// `warm_spares` have given their pages back.
class fiber_pool {
 public:
  struct setup {
    std::size_t stack_size;
    std::uint32_t deque_capacity;
    ext::task_stack_home* home;
    void (*entry)(switch_context& self, switch_context& previous);  ///< runs on a new fiber
    bool external;    ///< task stacks offer their tasks through `home`
    bool lock_based;  ///< each fiber has an mpb_deque
  };
  explicit fiber_pool(const setup& chosen) noexcept
      : setup_(chosen), slabs_(fiber_bytes(chosen.stack_size, chosen.deque_capacity)) {}

  /// Returns a fiber that nobody uses, or nullptr if the system refuses another; errno says why.
  fiber* take(fiber_cache& cache) noexcept {
    if (fiber* cached = cache.pop()) return cached;
    cache.want_more();
    fiber* spare = spares_.pop();
    return spare != nullptr ? spare : make();
  }
  /// Takes a fiber back. A worker may recycle what others take, so its surplus becomes common.
  void recycle(fiber_cache& cache, fiber& unused) noexcept {
    if (!cache.full()) return cache.push(unused);
    make_common(unused);
  }
  /// Called again and again by a worker without work: makes one fiber that its cache lacks, for to
  /// make one costs more than a steal and delays the strand that needs it, or makes one common that
  /// it has too many. Fibers move from the worker whose strands wait to those that resume them.
  /// Does nothing while others make fibers or look at them.
  void tend(fiber_cache& cache) noexcept;
  /// Returns the number of tasks that ran in place because a deque was full.
  std::uint64_t inline_runs() const;

  /// A look at all fibers, by any thread. While it lasts no strand returns from its wait, so what a
  /// wait_note names lives, and the frames of strands that are off their stacks stay as they are.
  class look {
   public:
    explicit look(const fiber_pool& fibers) : fibers_(fibers), lock_(fibers.mutex_) {
      fibers_.is_looked_at_.store(true, std::memory_order_relaxed);
      heavy_fence();
    }
    ~look() { fibers_.is_looked_at_.store(false, std::memory_order_release); }
    look(const look&) = delete;
    look& operator=(const look&) = delete;
    const std::vector<fiber_ptr>& all() const noexcept { return fibers_.fibers_; }

   private:
    const fiber_pool& fibers_;
    const std::lock_guard<std::mutex> lock_;
  };
  /// Called by a strand whose wait is over, after it has changed its note: waits for a look to end.
  void wait_has_ended() const noexcept {
    light_fence();
    if (is_looked_at_.load(std::memory_order_acquire)) [[unlikely]]
      await_look();
  }

 private:
  void await_look() const noexcept;
  void make_common(fiber& idle) noexcept {
    if (spares_.size() >= warm_spares) trim_fiber(idle);
    spares_.push(idle);
  }
  static constexpr unsigned warm_spares = 512;
  fiber* make() noexcept;
  fiber_memory take_memory() noexcept;

  const setup setup_;
  mutable std::atomic<bool> is_looked_at_{false};
  std::atomic<std::size_t> taken_{0};  ///< tries to make a fiber
  stack_slabs slabs_;                  ///< for the fibers beyond the pool of stacks
  mutable std::mutex mutex_;
  std::vector<fiber_ptr> fibers_;
  fiber_queue spares_;
};

}  // namespace creek::host_backend
