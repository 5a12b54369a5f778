// SPDX-License-Identifier: Apache-2.0
// The slow half of the split deque: what happens when a thief has asked, the array is full, or a
// task has to come back from the shared part. Every change of the split is made under `mover`.
#include <creek/tasking/ext/task_stack.hpp>

#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/task_context.hpp>

namespace creek::ext {

thread_local constinit task_stack* current_stack = nullptr;

namespace {

/// A floor above every slot: each join takes the slow path.
task_slot* const no_floor =
    reinterpret_cast<task_slot*>(std::numeric_limits<std::uintptr_t>::max() & ~std::uintptr_t{63});

/// Returns the limit at which a push takes the slow path with nothing else to be done: where a
/// worker sleeps, and where each push has to be announced, for the fast path announces nothing.
task_slot* resting_limit(const task_stack& stack, bool armed) noexcept {
  return armed || sanitizer::needs_announcements() ? stack.first : stack.last;
}

/// Moves the split up to `split`; thieves may only move the tail meanwhile. Its release publishes
/// the tasks below to the thieves' acquiring CAS.
void raise_split(task_stack& stack, std::uint32_t from, std::uint32_t split) noexcept {
  stack.shared.fetch_add(std::uint64_t{split - from} << 32, std::memory_order_release);
}

/// Called by the owner under the lock: if thieves have taken all that was shared, shares half of
/// the private tasks; then sets `limit` and `floor` to what they are without a pending question.
/// An announced push shares all: force_share() could otherwise take a task not yet announced.
/// `asked` is cleared last: a thief that asks in between sees it set and asks again later, so its
/// question is not wiped out.
void answer(task_stack& stack, std::uint32_t top) noexcept {
  const std::uint64_t word = stack.shared.load(std::memory_order_relaxed);
  std::uint32_t split = task_stack::split_of(word);
  const bool all = sanitizer::needs_announcements();
  if (top > split && (all || task_stack::tail_of(word) == split)) {
    const std::uint32_t raised = all ? top : split + (top - split + 1) / 2;
    raise_split(stack, split, raised);
    split = raised;
    stack.shared_at = tick_clock::now();
  }
  stack.limit.store(resting_limit(stack, stack.home->keep_armed()), std::memory_order_relaxed);
  stack.floor.store(stack.first + split, std::memory_order_relaxed);
  stack.asked.store(0, std::memory_order_release);
}

/// Called by the owner under the lock: makes the slot private if no thief has it.
bool reclaim(task_stack& stack, std::uint32_t index) noexcept {
  std::uint64_t word = stack.shared.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint32_t tail = task_stack::tail_of(word);
    if (tail > index) return false;
    if (task_stack::split_of(word) <= index) return true;
    const std::uint32_t lowered =
        sanitizer::needs_announcements() ? index : tail + (index - tail) / 2;
    if (stack.shared.compare_exchange_weak(word, task_stack::pack(tail, lowered),
                                           std::memory_order_acq_rel, std::memory_order_relaxed)) {
      stack.floor.store(stack.first + lowered, std::memory_order_relaxed);
      return true;
    }
  }
}

/// Everything at and below `index` is stolen (thieves take the oldest first): the next task goes to
/// `index` again.
void reset_shared(task_stack& stack, std::uint32_t index) noexcept {
  stack.shared.store(task_stack::pack(index, index), std::memory_order_release);
  if (!stack.external) stack.floor.store(stack.first + index, std::memory_order_relaxed);
}

/// Takes the slot at the top, already popped, back from wherever it is offered.
bool take_back(task_stack& stack, task_slot* slot) noexcept {
  if (stack.external) return stack.home->take_back(stack, slot);
  const std::lock_guard guard(stack.mover);
  const std::uint32_t index = stack.index(slot);
  const bool mine = reclaim(stack, index);
  const bool wanted = stack.asked.load(std::memory_order_relaxed) != 0 || stack.home->keep_armed();
  if (mine && wanted) answer(stack, index);
  return mine;
}

/// Waits until the thief of a spawned task has no more to do with its slot.
void wait_until_moved(const task_slot& slot) noexcept {
  spin_briefly([&] { return slot.state.load(std::memory_order_acquire) == slot_state::moved; });
  sanitizer::acquired(&slot.state);
}

/// All tasks of the strand are stolen: frees the slots of the spawned ones on top. Each is free
/// once its thief has moved the closure out of it.
void drop_stolen(task_stack& stack, task_slot* bottom) noexcept {
  task_slot* slot = stack.top.load(std::memory_order_relaxed);
  while (slot > bottom && (slot - 1)->is_spawned()) {
    --slot;
    wait_until_moved(*slot);
  }
  const std::lock_guard guard(stack.mover);
  stack.top.store(slot, std::memory_order_release);
  reset_shared(stack, stack.index(slot));
}

/// A thief is nearly done: for this long, waiting costs less than a switch of stacks.
constexpr std::chrono::nanoseconds worth_waiting{1000};
/// A task that was away this long before its join was worth sharing: the next is shared unasked.
constexpr std::chrono::nanoseconds worth_sharing{250};

/// Called after the join of a stolen fork.
void joined_stolen(task_stack& stack, task_slot* slot, bool next_too) noexcept {
  if (stack.external) return;
  const std::lock_guard guard(stack.mover);
  reset_shared(stack, stack.index(slot));
  if (next_too) detail::share_next(stack);
}

bool publish_join(void* argument, strand* self) {
  auto* slot = static_cast<task_slot*>(argument);
  std::uintptr_t seen = slot->state.load(std::memory_order_acquire);
  return seen != slot_state::done &&
         slot->state.compare_exchange_strong(
             seen, reinterpret_cast<std::uintptr_t>(self) | slot_state::flag | slot_state::waited,
             std::memory_order_acq_rel, std::memory_order_acquire);
}

/// Waits for the thief. `top` is the strand's first free slot while it waits.
void wait_for_thief(task_stack& stack, task_slot* slot, task_slot* top) noexcept {
  const auto done = [&] { return slot->state.load(std::memory_order_acquire) == slot_state::done; };
  if (!creek::spin_until(done, worth_waiting)) {
    // Until the thief has read the task's type, the waiter must not write in its place.
    spin_briefly(
        [&] { return (slot->state.load(std::memory_order_acquire) & slot_state::flag) != 0; });
    stack.top.store(top, std::memory_order_release);
    stack.home->suspend(publish_join, slot);
  }
  sanitizer::acquired(&slot->state);
}

/// Runs in place of a fork that was taken out of its slot from under younger tasks: does nothing.
strand* run_hole(task_slot* slot, bool stolen) noexcept {
  sanitizer::releases(&slot->state);
  if (stolen) slot->state.store(slot_state::moved, std::memory_order_release);
  return nullptr;
}
constexpr task_type hole_type{&run_hole, "nothing"};

/// Makes the slot of a fork, private or reclaimed, a task that any strand may run.
void leave_hole(task_slot* slot) noexcept {
  std::atomic_ref(slot->owner)
      .store(task_slot::spawned_bit | task_slot::private_bit | task_slot::hole_bit,
             std::memory_order_relaxed);
  slot->state.store(reinterpret_cast<std::uintptr_t>(&hole_type), std::memory_order_relaxed);
}

/// Joins a fork under tasks that its first branch spawned and that were not waited for yet. They
/// stay where they are, above the slot, for their waiter to run: run here, they could block on what
/// this task does after its join.
join_result join_buried(task_stack& stack, task_slot* slot) noexcept {
  if (stack.external) {
    const bool mine = stack.home->take_back(stack, slot);
    if (mine) leave_hole(slot);
    stack.home->work_available();  // younger tasks were out of the deque for a moment
    if (mine) return join_result::run_inline;
  } else {
    const std::lock_guard guard(
        stack.mover);  // also keeps thieves from sharing the slot before it is a hole
    if (reclaim(stack, stack.index(slot))) {
      leave_hole(slot);
      return join_result::run_inline;
    }
  }
  wait_for_thief(stack, slot, stack.top.load(std::memory_order_relaxed));
  // From here on it looks like a stolen spawned task; the result stays in it until the caller takes
  // the result.
  std::atomic_ref(slot->owner).fetch_or(task_slot::spawned_bit, std::memory_order_relaxed);
  slot->state.store(slot_state::moved, std::memory_order_release);
  return join_result::done;
}

}  // namespace

void init_task_stack(task_stack& stack, task_slot* slots, std::uint32_t capacity,
                     task_stack_home* home, strand* self, bool external) noexcept {
  stack.first = slots;
  stack.last = slots + capacity;
  stack.home = home;
  stack.self = self;
  stack.external = external;
  stack.inline_runs.store(0, std::memory_order_relaxed);
  stack.free_contexts = nullptr;
  stack.shared_at = {};
  stack.idle_scope = {};
  stack.idle_scope.base = slots;
  stack.running.store(&stack.idle_scope, std::memory_order_relaxed);
  stack.top.store(slots, std::memory_order_relaxed);
  stack.limit.store(resting_limit(stack, external), std::memory_order_relaxed);
  stack.floor.store(external ? no_floor : slots, std::memory_order_relaxed);
  stack.shared.store(0, std::memory_order_relaxed);
  stack.asked.store(0, std::memory_order_relaxed);
}

/// Called if there is no room above the newest task. Answers thieves as well, or they would starve
/// while the owner runs one task after the other.
void make_room(task_stack& stack) noexcept {
  if (stack.external) return;
  const auto capacity = static_cast<std::uint32_t>(stack.last - stack.first);
  const std::uint64_t word = stack.shared.load(std::memory_order_relaxed);
  if (task_stack::tail_of(word) >= capacity) {
    drop_stolen(stack, stack.scope().base);
  } else if (task_stack::tail_of(word) == task_stack::split_of(word) &&
             stack.asked.load(std::memory_order_relaxed) != 0) {
    const std::lock_guard guard(stack.mover);
    answer(stack, stack.index(stack.top.load(std::memory_order_relaxed)));
  }
}

bool pushed_slow(task_stack* stack, task_slot* slot) noexcept {
  sanitizer::releases(&slot->state);  // for run_stolen()
  const bool room = slot != stack->last && (!stack->external || stack->home->offer(*stack, slot));
  if (!room) {
    stack->top.store(slot, std::memory_order_release);
    count_inline_run(*stack);
    make_room(*stack);
    if (slot->is_spawned()) run_popped(slot);
    return false;
  }
  if (!stack->external) {
    __builtin_prefetch(&stack->shared, 1);  // a polling thief has it: fetch it to write, once
    const std::lock_guard guard(stack->mover);
    answer(*stack, stack->index(slot) + 1);
  }
  stack->home->work_available();
  return true;
}

bool run_newest_slow(task_stack* stack, task_slot* slot, task_slot* bottom,
                     const task_context* awaited) noexcept {
  for (;;) {
    if (take_back(*stack, slot)) {
      run_popped(slot);
      return true;
    }
    if (!stack->external) {
      // Stolen, and with it everything below.
      stack->top.store(slot + 1, std::memory_order_release);
      drop_stolen(*stack, bottom);
      return false;
    }
    wait_until_moved(*slot);
    if (--slot < bottom || !may_run_here(*slot, awaited)) return false;
    stack->top.store(slot, std::memory_order_release);
    creek::light_fence();
  }
}

join_result join_slow(task_stack* stack, task_slot* slot) noexcept {
  if (stack->top.load(std::memory_order_relaxed) > slot + 1) return join_buried(*stack, slot);
  stack->top.store(slot, std::memory_order_release);
  creek::light_fence();
  if (take_back(*stack, slot)) return join_result::run_inline;
  const bool worthwhile =
      tick_clock::now() - stack->shared_at > tick_clock::from_nanoseconds(worth_sharing);
  // Without another stack, suspend() runs tasks here: they go above the slot.
  wait_for_thief(*stack, slot, slot + 1);
  stack->top.store(slot, std::memory_order_release);
  joined_stolen(*stack, slot, worthwhile);
  return join_result::done;
}

void share_next(task_stack& stack) noexcept {
  if (!stack.external) stack.limit.store(stack.first, std::memory_order_relaxed);
}

void share_all(task_stack& stack) noexcept {
  if (stack.external) return;
  const std::lock_guard guard(stack.mover);
  const std::uint32_t top = stack.index(stack.top.load(std::memory_order_relaxed));
  const std::uint32_t split = task_stack::split_of(stack.shared.load(std::memory_order_relaxed));
  if (top <= split) return;
  raise_split(stack, split, top);
  stack.floor.store(stack.first + top, std::memory_order_relaxed);
}

void refresh_armed(task_stack& stack) noexcept {
  if (stack.external) return;
  const std::lock_guard guard(stack.mover);
  const bool armed = stack.home->keep_armed() || stack.asked.load(std::memory_order_relaxed) != 0;
  stack.limit.store(resting_limit(stack, armed), std::memory_order_relaxed);
}

steal_result steal(task_stack& victim, task_slot*& task) noexcept {
  std::uint64_t word = victim.shared.load(std::memory_order_relaxed);
  const std::uint32_t tail = task_stack::tail_of(word);
  if (tail >= task_stack::split_of(word)) return steal_result::empty;
  __builtin_prefetch(victim.first + tail);  // on its way while the word is fetched to write
  if (!victim.shared.compare_exchange_strong(word, word + 1, std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
    return steal_result::lost;
  }
  task = victim.first + tail;
  return steal_result::taken;
}

void ask(task_stack& victim) noexcept {
  if (victim.external || victim.asked.load(std::memory_order_relaxed) != 0) return;
  if (victim.asked.exchange(1, std::memory_order_acquire) != 0) return;
  victim.limit.store(victim.first, std::memory_order_relaxed);
  victim.floor.store(no_floor, std::memory_order_relaxed);
}

/// Returns the first free slot, for a thief. The spare slot, which the owner writes and leaves
/// again when a task does not fit, never counts: the owner takes it back without asking.
static std::uint32_t top_for_thieves(const task_stack& victim) noexcept {
  const task_slot* top = victim.top.load(std::memory_order_acquire);
  return victim.index(top < victim.last ? top : victim.last);
}

bool force_share(task_stack& victim) noexcept {
  if (victim.external || sanitizer::needs_announcements() || !victim.mover.try_lock()) return false;
  const std::uint32_t split = task_stack::split_of(victim.shared.load(std::memory_order_relaxed));
  std::uint32_t top = top_for_thieves(victim);
  std::uint32_t raised = split;
  if (top > split) {
    const std::uint32_t wish = split + (top - split + 1) / 2;
    victim.floor.store(victim.first + wish, std::memory_order_relaxed);
    // From here on a join below `wish` goes to the slow path and waits for the lock; one that
    // passed before has its store of `top` visible.
    creek::heavy_fence();
    top = top_for_thieves(victim);
    raised = top < wish ? top : wish;
    if (raised < split) raised = split;
    if (raised > split) raise_split(victim, split, raised);
    victim.floor.store(victim.first + raised, std::memory_order_relaxed);
  }
  victim.mover.unlock();
  return raised > split;
}

void arm(task_stack& victim) noexcept {
  if (victim.external) return;
  const std::lock_guard guard(victim.mover);
  victim.limit.store(victim.first, std::memory_order_relaxed);
}

bool is_armed(const task_stack& stack) noexcept {
  return stack.external || stack.limit.load(std::memory_order_relaxed) == stack.first;
}

bool has_work(const task_stack& victim) noexcept {
  const std::uint32_t top = victim.index(victim.top.load(std::memory_order_acquire));
  return top > task_stack::tail_of(victim.shared.load(std::memory_order_acquire));
}

strand* run_stolen(task_slot* slot) noexcept {
  sanitizer::acquired(&slot->state);
  const auto* type =
      reinterpret_cast<const task_type*>(slot->state.load(std::memory_order_relaxed));
  strand* next = nullptr;
  if (slot->is_spawned()) {
    next = type->run(slot, true);
  } else {
    // Only a stolen branch can know when the tasks it spawned are done, so it waits for them.
    slot->state.store(slot_state::running, std::memory_order_release);
    root_scope root;
    task_frame branch(&root, type);
    type->run(slot, true);
    branch.finish();
    if (std::exception_ptr failure = root.wait_all()) fail_fork(slot, std::move(failure));
    sanitizer::releases(&slot->state);
    const std::uintptr_t seen = slot->state.exchange(slot_state::done, std::memory_order_acq_rel);
    if ((seen & slot_state::flag) != 0) {
      next = reinterpret_cast<strand*>(seen & slot_state::strand_mask);
    }
  }
  return next;
}

void fail_fork(task_slot* slot, std::exception_ptr failure) noexcept {
  if ((slot->owner & task_slot::failed_bit) != 0) return;
  ::new (static_cast<void*>(slot->closure)) std::exception_ptr(std::move(failure));
  std::atomic_ref(slot->owner)
      .store(slot->owner | task_slot::failed_bit, std::memory_order_relaxed);
}

std::exception_ptr take_failure(task_slot* slot) noexcept {
  if ((slot->owner & task_slot::failed_bit) == 0) return nullptr;
  auto* stored = std::launder(reinterpret_cast<std::exception_ptr*>(slot->closure));
  std::exception_ptr failure = std::move(*stored);
  std::destroy_at(stored);
  return failure;
}

}  // namespace creek::ext
