// SPDX-License-Identifier: Apache-2.0
// The lock-free host deque: a direct task stack cut at `split`. A strand writes the tasks that it
// makes in place, newest on top; above the split only the strand works, with plain loads and
// stores; below it thieves take the oldest by one compare-and-swap. The protocol, its states and
// why nothing is lost: README.md of this module, "The split deque". Sources: the direct task stack
// of Wool [Faxen 2010]; the split deque of [Dinan 2009] and of Lace [van Dijk 2014].
// Different here: one stack per strand instead of one per worker, so that a
// strand may move to another worker; one compare serves "full" and "a thief asks"; a thief that
// gets no answer moves the split itself behind an asymmetric fence.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/core/threads/spin_lock.hpp>
#include <creek/tasking/ext/executor.hpp>
#include <creek/tasking/steal_result.hpp>

namespace creek::ext {

struct task_slot;
struct task_stack;

/// Kind of a task: how to run it, and its name for messages. One static object per kind.
struct task_type {
  /// Runs the task of `slot`; a spawned one moves its closure out of the slot before anything else.
  /// Returns the strand that this task's end releases, if any, for the caller to resume.
  strand* (*run)(task_slot* slot, bool stolen) noexcept;
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

/// Interface of an executor whose strands own task stacks. Only slow paths call it.
class task_stack_home : public executor {
 public:
  /// Called when a task became visible, or was pushed while workers sleep: wakes one if need be.
  virtual void work_available() noexcept = 0;
  /// Returns true while some worker sleeps: pushes must go on calling work_available().
  virtual bool keep_armed() const noexcept = 0;
  /// Offers the newest slot to thieves, for task stacks set up with `external`, which use other
  /// deques than the split one. Returns false if there is no room: the slot stays with the strand.
  virtual bool offer(task_stack& stack, task_slot* slot) noexcept = 0;
  /// Takes the slot back; returns false if a thief has it.
  virtual bool take_back(task_stack& stack, task_slot* slot) noexcept = 0;
};

/// The tasks of one strand. Memory is type-stable: thieves may look at a recycled one.
struct task_stack {
  // --- the strand's own line; thieves write only `limit` and `floor`, to ask for work.
  std::atomic<task_slot*> top;    ///< first free slot
  std::atomic<task_slot*> limit;  ///< a push beyond this calls pushed_slow()
  std::atomic<task_slot*> floor;  ///< a join below this calls join_slow(); normally == split
  /// Scope of the running task. Atomic: a signal handler reads it, and plain stores around a task
  /// without side effects would be optimised away.
  std::atomic<task_scope*> running;
  task_scope& scope() const noexcept { return *running.load(std::memory_order_relaxed); }
  // --- rarely written
  alignas(64) task_slot* first;
  task_slot* last;  ///< one spare slot stands here, for the task that does not fit
  task_stack_home* home;
  strand* self;
  task_scope idle_scope;
  task_context* free_contexts;             ///< recycled, only the strand
  ticks shared_at;                         ///< when the strand last shared a task, only the strand
  std::atomic<std::uint64_t> inline_runs;  ///< written by the strand, read by counters()
  bool external;                           ///< tasks are offered through task_stack_home::offer
  spin_lock mover;                         ///< held to move the split; thieves: only by force
  // --- kept off the line that thieves poll
  alignas(128) std::atomic<std::uint32_t> asked;  ///< a thief has asked and was not answered yet
  // --- the line that thieves poll
  alignas(
      128) std::atomic<std::uint64_t> shared;  ///< tail (low 32) and split (high 32), as indexes

  static constexpr std::uint64_t pack(std::uint32_t tail, std::uint32_t split) noexcept {
    return (std::uint64_t{split} << 32) | tail;
  }
  static constexpr std::uint32_t tail_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word);
  }
  static constexpr std::uint32_t split_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  std::uint32_t index(const task_slot* slot) const noexcept {
    return static_cast<std::uint32_t>(slot - first);
  }
};

/// Sets an idle stack up over `capacity` + 1 slots at `slots`.
void init_task_stack(task_stack& stack, task_slot* slots, std::uint32_t capacity,
                     task_stack_home* home, strand* self, bool external) noexcept;

// --- Owner's side -------------------------------------------------------------------------------

/// Makes the slot at the top a task. Only the strand calls it; no fence, no read-modify-write. The
/// release store of `top` pairs with a thief's acquire load in force_share(); the load of
/// `limit` after it with the heavy fence of a worker that goes to sleep.
/// Returns false if there is no room: it has run a spawned task then; the caller runs a fork.
bool pushed_slow(task_stack* stack, task_slot* slot) noexcept;
/// Frees slots whose tasks are all stolen, and answers thieves.
void make_room(task_stack& stack) noexcept;
inline std::uint64_t count_inline_run(task_stack& stack) noexcept {
  const std::uint64_t runs = stack.inline_runs.load(std::memory_order_relaxed) + 1;
  stack.inline_runs.store(runs, std::memory_order_relaxed);
  return runs;
}
/// Counts that the array is full and the caller runs its task at once; makes room now and then, and
/// when a thief asks. Thieves write the words that make_room() reads.
inline void deque_full(task_stack& stack) noexcept {
  const std::uint64_t runs = count_inline_run(stack);
  const bool asked = stack.limit.load(std::memory_order_relaxed) == stack.first;
  if (asked || runs % 32 == 0) [[unlikely]]
    make_room(stack);
}

inline bool push(task_stack* stack, task_slot* slot, const task_type* type,
                 std::uintptr_t owner) noexcept {
  slot->owner = owner;
  slot->state.store(reinterpret_cast<std::uintptr_t>(type), std::memory_order_relaxed);
  stack->top.store(slot + 1, std::memory_order_release);
  creek::light_fence();
  if (slot + 1 > stack->limit.load(std::memory_order_relaxed)) [[unlikely]] {
    return pushed_slow(stack, slot);
  }
  return true;
}

enum class join_result : std::uint8_t { run_inline, done };

/// Does the joins that the fast path cannot: takes the slot back from the shared part, or out from
/// under spawned tasks that were not waited for, answers thieves, or waits for the slot's thief.
join_result join_slow(task_stack* stack, task_slot* slot) noexcept;

/// Takes the fork at `slot` back, which must be the strand's newest open one.
inline join_result join(task_stack* stack, task_slot* slot) noexcept {
  // Above the slot may be spawned tasks that were not waited for.
  const task_slot* top = stack->top.load(std::memory_order_relaxed);
  if (reinterpret_cast<std::uintptr_t>(top) - reinterpret_cast<std::uintptr_t>(slot) <=
      sizeof(task_slot)) [[likely]] {
    stack->top.store(slot, std::memory_order_release);
    creek::light_fence();
    if (slot >= stack->floor.load(std::memory_order_relaxed)) [[likely]] {
      return join_result::run_inline;
    }
  }
  return join_slow(stack, slot);
}

/// Runs a task that was popped, in place.
inline void run_popped(task_slot* slot) noexcept {
  const auto* type =
      reinterpret_cast<const task_type*>(slot->state.load(std::memory_order_relaxed));
  if (strand* released = type->run(slot, false)) [[unlikely]]
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

/// Continues where run_newest() met the shared part.
bool run_newest_slow(task_stack* stack, task_slot* slot, task_slot* bottom,
                     const task_context* awaited) noexcept;

/// Runs the newest task of the strand if it lies at or above `bottom` and may_run_here(). Returns
/// false if not: nothing is left, or an open fork or a task of another context is on top.
inline bool run_newest(task_stack* stack, task_slot* bottom,
                       const task_context* awaited = nullptr) noexcept {
  task_slot* slot = stack->top.load(std::memory_order_relaxed) - 1;
  if (slot < bottom || !may_run_here(*slot, awaited)) return false;
  stack->top.store(slot, std::memory_order_release);
  creek::light_fence();
  if (slot >= stack->floor.load(std::memory_order_relaxed)) [[likely]] {
    run_popped(slot);
    return true;
  }
  return run_newest_slow(stack, slot, bottom, awaited);
}

// --- Thieves' side: any thread -------------------------------------------------------------------

/// Takes the oldest shared task and stores it in `task`, which otherwise keeps its value.
/// Lock-free, one CAS; it synchronises with the release that shared the task. Returns `lost` if the
/// victim or another thief changed the shared part meanwhile.
[[nodiscard]] steal_result steal(task_stack& victim, task_slot*& task) noexcept;
/// Tells the owner that a thief wants work; the owner answers at its next push or join.
void ask(task_stack& victim) noexcept;
/// Shares half of the victim's private tasks without the owner's help, by a heavy fence. For an
/// owner that computes for long without touching its deque. Returns true if something was shared.
bool force_share(task_stack& victim) noexcept;
/// Makes the owner's next push call the scheduler; pairs with heavy_fence() by the caller.
void arm(task_stack& victim) noexcept;
/// Returns true if the stack has a task, shared or private. Exact only behind a heavy fence.
bool has_work(const task_stack& victim) noexcept;

/// Makes the next push share, although no thief has asked. Only the strand calls it.
void share_next(task_stack& stack) noexcept;
/// Shares everything; called before a strand with unstarted tasks is suspended. Only by the strand.
void share_all(task_stack& stack) noexcept;
/// Makes the owner's pushes call the scheduler or not, as keep_armed() says. Only the strand.
void refresh_armed(task_stack& stack) noexcept;
bool is_armed(const task_stack& stack) noexcept;

/// Runs a task taken by steal() on the current strand and returns the strand that waits for just
/// this one, to be run next, or null.
strand* run_stolen(task_slot* slot) noexcept;
/// Keeps the exception of a stolen fork in its slot until the join takes it out.
void fail_fork(task_slot* slot, std::exception_ptr failure) noexcept;
std::exception_ptr take_failure(task_slot* slot) noexcept;

/// Task stack of the strand that runs on this thread; null outside the host backend. A strand's
/// stack never changes, so a function may keep the pointer across any wait. The model must not
/// compute the variable's address, which would be stale after a move to another thread:
/// initial-exec reads it with one instruction.
extern thread_local constinit task_stack* current_stack __attribute__((tls_model("initial-exec")));

}  // namespace creek::ext
