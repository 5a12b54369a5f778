// SPDX-License-Identifier: Apache-2.0
// One task of a task stack: how to run it, its closure, and the states in which its maker and its
// thief meet. The protocol: README.md of this module, "The split deque".
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <creek/tasking/ext/executor.hpp>

namespace creek::ext {

class task_stack;

/// Kind of a task: how to run it, and its name for messages. One static object per kind.
struct task_type {
  /// Runs the task of `slot`; a spawned one moves its closure out of the slot before anything else.
  /// `here` is the stack of the calling strand if the task was popped, and null if it was stolen.
  /// Returns the strand that this task's end releases, if any, for the caller to resume.
  strand* (*run)(task_slot* slot, task_stack* here) noexcept;
  const char* name;
};

/// One task in place; a cache line.
struct alignas(64) task_slot {
  /// Address of the task_type while the task may be taken; then a join state (see slot_state).
  std::atomic<std::uintptr_t> state;
  /// Fork: the closure in its maker's frame. Spawned: its task_context. With flags.
  std::uintptr_t owner;
  static constexpr std::size_t closure_size = 48;
  alignas(16) std::byte closure[closure_size];

  /// Atomic: the maker may ask about an open fork while its thief marks it as failed.
  std::uintptr_t owner_word() const noexcept {
    return std::atomic_ref(const_cast<std::uintptr_t&>(owner)).load(std::memory_order_relaxed);
  }
  bool is_spawned() const noexcept { return (owner_word() & spawned_bit) != 0; }
  // Flags in `owner`, in bits that an address of user space never has.
  static constexpr std::uintptr_t spawned_bit = std::uintptr_t{1} << 63;
  static constexpr std::uintptr_t failed_bit = std::uintptr_t{1} << 62;   ///< see take_failure()
  static constexpr std::uintptr_t private_bit = std::uintptr_t{1} << 61;  ///< not in external deque
  /// A fork that was taken out from under younger tasks: its slot is a task that does nothing.
  static constexpr std::uintptr_t hole_bit = std::uintptr_t{1} << 60;
  static constexpr std::uintptr_t owner_mask = (std::uintptr_t{1} << 60) - 1;
};

/// Join states of a slot; bit 63 is never set in an address of user space.
namespace slot_state {
inline constexpr std::uintptr_t flag = std::uintptr_t{1} << 63;
inline constexpr std::uintptr_t done = flag | 1;   ///< stolen fork ended; its result is in the slot
inline constexpr std::uintptr_t moved = flag | 2;  ///< thief has moved the closure out of the slot
inline constexpr std::uintptr_t running = flag | 3;  ///< thief of a fork has read its type
inline constexpr std::uintptr_t waited = flag | 4;   ///< rest = strand to resume (8-byte aligned)
inline constexpr std::uintptr_t strand_mask = ~(flag | 7);
}  // namespace slot_state

/// Runs a task that was popped, on the strand with the stack `here`.
inline void run_popped(task_slot* slot, task_stack* here) noexcept {
  const auto* type =
      reinterpret_cast<const task_type*>(slot->state.load(std::memory_order_relaxed));
  if (strand* released = type->run(slot, here)) [[unlikely]]
    released->home->resume(released);
}

/// Returns whether a strand may run the task on top of what runs there: one that it waits for, or
/// any spawned one (null) where nothing runs underneath. Anything else could block on what the
/// waiter does later.
inline bool may_run_here(const task_slot& slot, const task_context* awaited) noexcept {
  if (awaited == nullptr) return slot.is_spawned();
  const std::uintptr_t word = slot.owner_word();
  const auto wanted = reinterpret_cast<std::uintptr_t>(awaited) | task_slot::spawned_bit;
  return (word & ~task_slot::private_bit) == wanted || (word & task_slot::hole_bit) != 0;
}

/// Runs a task taken by steal() on the current strand and returns the strand that waits for just
/// this one, to be run next, or null.
strand* run_stolen(task_slot* slot) noexcept;
/// Keeps the exception of a stolen fork in its slot until the join takes it out.
void fail_fork(task_slot* slot, std::exception_ptr failure) noexcept;
std::exception_ptr take_failure(task_slot* slot) noexcept;

}  // namespace creek::ext
