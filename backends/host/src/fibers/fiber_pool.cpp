// SPDX-License-Identifier: Apache-2.0
// Makes the fibers of a scheduler.
#include "fiber_pool.hpp"

#include <cerrno>
#include <new>

#include <creek/core/threads/stack_pool.hpp>

#include "scheduling/external_deques.hpp"

namespace creek::host_backend {

/// The first stacks come from those of ended runtimes, which are given back when this one ends.
fiber_memory fiber_pool::take_memory() noexcept {
  if (taken_.fetch_add(1, std::memory_order_relaxed) < stack_pool_limits::stacks) {
    return {.low = take_stack(fiber_bytes(setup_.stack_size, setup_.deque_capacity))};
  }
  const slab_stack cut = slabs_.take();
  return {.low = cut.low, .in_slab = true, .guarded = cut.guarded};
}

fiber* fiber_pool::make() noexcept {
  const fiber_memory memory = take_memory();
  if (memory.low == nullptr) return nullptr;
  fiber_ptr made = make_fiber(memory, setup_.stack_size, setup_.deque_capacity, setup_.entry);
  made->home = setup_.home;
  made->tasks.set_up(made->tasks.slots(), setup_.deque_capacity, setup_.home, made.get(),
                     setup_.external);
  try {
    if (setup_.lock_based) made->mpb = new mpb_deque(setup_.deque_capacity);
    const std::lock_guard lock(mutex_);
    fibers_.push_back(std::move(made));
    return fibers_.back().get();
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return nullptr;
  }
}

void fiber_pool::tend(fiber_cache& cache) noexcept {
  if (cache.has_too_many()) {
    make_common(*cache.pop());
  } else if (cache.has_too_few()) {
    // Others must not wait for work that this worker would find now.
    if (!std::unique_lock(mutex_, std::try_to_lock)) return;
    fiber* added = spares_.pop();
    if (added == nullptr) added = make();
    if (added == nullptr) return cache.want_no_more();
    // Fibers of slabs are for waiting tasks by the thousand, each of which is to cost one page.
    if (!added->in_slab) populate_fiber(*added);
    cache.push(*added);
  }
}

std::uint64_t fiber_pool::inline_runs() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const fiber_ptr& each : fibers_) {
    sum += each->tasks.record().inline_runs.load(std::memory_order_relaxed);
  }
  return sum;
}

void fiber_pool::await_look() const noexcept {
  const std::lock_guard lock(mutex_);
}

}  // namespace creek::host_backend
