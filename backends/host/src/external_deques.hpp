// SPDX-License-Identifier: Apache-2.0
// The deques that are there for comparison: the lock-based one of [Prell 2011], and the single
// shared queue of work sharing. Both hold pointers to slots of task stacks.
#pragma once

#include <cstddef>
#include <vector>

#include <creek/host/memory.hpp>
#include <creek/tasking/detail/task_stack.hpp>
#include <creek/tasking/lock_deque.hpp>

#include "worker.hpp"

namespace creek::host_backend {

/// The lock-based MPB deque of one strand.
struct mpb_deque {
  using deque = lock_deque<memory, detail::task_slot*>;

  explicit mpb_deque(std::size_t capacity)
      : space(1, {.mpm_bytes = deque::bytes_needed(capacity)}),
        view(space.core(core_id{0})),
        tasks(core_id{0}, view.at(core_id{0}, 0), capacity) {
    tasks.reset(view);
  }
  bool push(detail::task_slot* slot) noexcept { return tasks.push(view, slot); }
  /// Returns false if a thief has it; then all older tasks are gone as well. Younger tasks stay.
  bool take_back(detail::task_slot* slot) noexcept {
    detail::task_slot* newest = nullptr;
    detail::task_slot* lowest = nullptr;  // lowest of the tasks taken out from above it
    detail::task_slot* highest = nullptr;
    bool found = false;
    while (!found && tasks.pop_newest(view, newest)) {
      found = newest == slot;
      if (found) break;
      lowest = newest;
      if (highest == nullptr) highest = newest;
    }
    for (; lowest != nullptr && lowest <= highest; ++lowest) {
      const bool hole = (lowest->owner_word() & detail::task_slot::hole_bit) != 0;
      if (!hole) (void)tasks.push(view, lowest);
    }
    return found;
  }
  detail::task_slot* steal() noexcept {
    detail::task_slot* oldest = nullptr;
    return tasks.steal_oldest(view, oldest) == steal_result::taken ? oldest : nullptr;
  }
  std::size_t size() noexcept { return tasks.approx_size(view); }

  memory_space space;
  memory view;
  deque tasks;
};

/// Work sharing: strands put their newest task here while there is room, idle workers take the
/// oldest. Any thread.
class shared_queue {
 public:
  explicit shared_queue(std::size_t capacity) : capacity_(capacity) { slots_.reserve(capacity); }
  bool put(detail::task_slot* slot) noexcept;
  /// Like put(), but also beyond the capacity; returns false only if there is no memory.
  bool put_anyway(detail::task_slot* slot) noexcept;
  /// Takes `slot` out again; returns false if a worker has it.
  bool take_back(detail::task_slot* slot) noexcept;
  detail::task_slot* take_oldest() noexcept;
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

 private:
  spin_lock lock_;
  std::size_t capacity_;
  std::vector<detail::task_slot*> slots_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace creek::host_backend
