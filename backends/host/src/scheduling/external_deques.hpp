// SPDX-License-Identifier: Apache-2.0
// Deques through which thieves get at tasks: the split deque of each task stack, or one of the two
// that are there for comparison, the lock-based one of [Prell 2011] and the single shared queue of
// work sharing. Both hold pointers to slots of task stacks.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include <creek/core/threads/spin_lock.hpp>
#include <creek/host/memory.hpp>
#include <creek/tasking/ext/task_stack.hpp>
#include <creek/tasking/lock_deque.hpp>
#include <creek/tasking/options.hpp>

#include "fibers/fiber.hpp"

namespace creek::host_backend {

/// The lock-based MPB deque of one strand.
struct mpb_deque {
  using deque = lock_deque<memory, ext::task_slot*>;

  explicit mpb_deque(std::size_t capacity)
      : space(1, {.mpm_bytes = deque::bytes_needed(capacity)}),
        view(space.core(core_id{0})),
        tasks(core_id{0}, view.at(core_id{0}, 0), capacity) {
    tasks.reset(view);
  }
  bool push(ext::task_slot* slot) noexcept { return tasks.push(view, slot); }
  /// Returns false if a thief has it; then all older tasks are gone as well. Younger tasks stay.
  bool take_back(ext::task_slot* slot) noexcept {
    ext::task_slot* newest = nullptr;
    ext::task_slot* lowest = nullptr;  // lowest of the tasks taken out from above it
    ext::task_slot* highest = nullptr;
    bool found = false;
    while (!found && tasks.pop_newest(view, newest)) {
      found = newest == slot;
      if (found) break;
      lowest = newest;
      if (highest == nullptr) highest = newest;
    }
    for (; lowest != nullptr && lowest <= highest; ++lowest) {
      const bool hole = (lowest->owner_word() & ext::task_slot::hole_bit) != 0;
      if (!hole) (void)tasks.push(view, lowest);
    }
    return found;
  }
  [[nodiscard]] steal_result steal(ext::task_slot*& oldest) noexcept {
    return tasks.steal_oldest(view, oldest);
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
  bool put(ext::task_slot* slot) noexcept;
  /// Like put(), but also beyond the capacity; returns false only if there is no memory.
  bool put_anyway(ext::task_slot* slot) noexcept;
  /// Takes `slot` out again; returns false if a worker has it.
  bool take_back(ext::task_slot* slot) noexcept;
  ext::task_slot* take_oldest() noexcept;
  std::size_t size() const noexcept { return size_.load(std::memory_order_acquire); }

 private:
  spin_lock lock_;
  std::size_t capacity_;
  std::vector<ext::task_slot*> slots_;
  std::atomic<std::size_t> size_{0};
};

/// Access to the tasks of strands, whichever deque holds them. External deques hold what the strand
/// could offer; a slot with `private_bit` found no room there and stays with its strand. Nobody
/// steals from single strands if all share one queue.
class task_deques {
 public:
  explicit task_deques(const scheduler_options& options);

  /// Returns whether the deques are other than the split one.
  bool external() const noexcept { return external_; }
  /// Returns whether each strand has an mpb_deque.
  bool lock_based() const noexcept { return external_ && !shared_; }

  [[nodiscard]] steal_result steal(ext::stealable_stack& victim, ext::task_slot*& task) noexcept {
    if (!external_) return victim.steal(task);
    return shared_ ? steal_result::empty : fiber_of(&victim)->mpb->steal(task);
  }
  /// Returns the number of tasks of the strand that have not begun and that thieves may get.
  std::size_t count_work(const ext::stealable_stack& stack) const noexcept {
    if (!external_) return stack.count_work();
    return shared_ ? 0 : fiber_of(&stack)->mpb->size();
  }
  bool has_work(const ext::stealable_stack& stack) const noexcept { return count_work(stack) != 0; }
  /// Takes the oldest task of the shared queue; null if there is none.
  ext::task_slot* take_shared() noexcept { return shared_ ? shared_->take_oldest() : nullptr; }
  bool any_shared() const noexcept { return shared_ && shared_->size() != 0; }

  // The strand's side: task_stack_home::offer() and take_back() of external deques.
  bool offer(ext::task_stack& stack, ext::task_slot* slot) noexcept;
  bool take_back(ext::task_stack& stack, ext::task_slot* slot) noexcept;
  /// Called before a strand is suspended: the tasks that it has kept may be those that it waits
  /// for. Returns true if the caller has to announce tasks.
  [[nodiscard]] bool offer_all(ext::task_stack& stack) noexcept;

 private:
  const bool external_;
  const std::unique_ptr<shared_queue> shared_;  ///< work sharing only
};

}  // namespace creek::host_backend
