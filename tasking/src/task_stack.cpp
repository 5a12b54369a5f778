// SPDX-License-Identifier: Apache-2.0
// The owner's slow half of the split deque: what happens when a thief has asked, the array is full,
// or a task has to come back from the shared part. Every change of the split is made under the
// lock.
#include <creek/tasking/ext/task_stack.hpp>

#include <cassert>
#include <chrono>
#include <mutex>

#include <creek/core/threads/sanitizer.hpp>

#include "stack_words.hpp"

namespace creek::ext {

thread_local constinit task_stack* current_stack = nullptr;
thread_local constinit bool follows_others = true;
thread_local constinit bool keeps_posts_back = false;

namespace {

/// A thief is nearly done: for this long, waiting costs less than a switch of stacks.
constexpr std::chrono::nanoseconds worth_waiting{1000};
/// A task that was away this long before its join was worth sharing: the next is shared unasked.
constexpr std::chrono::nanoseconds worth_sharing{250};

/// Between two times that a strand yields to messages.
constexpr std::chrono::microseconds min_turn{10};

/// Waits until the thief of a spawned task has no more to do with its slot.
void wait_until_moved(const task_slot& slot) noexcept {
  spin_briefly([&] { return slot.state.load(std::memory_order_acquire) == slot_state::moved; });
  sanitizer::acquired(&slot.state);
}

bool publish_join(void* argument, strand* self) {
  auto* slot = static_cast<task_slot*>(argument);
  std::uintptr_t seen = slot->state.load(std::memory_order_acquire);
  return seen != slot_state::done &&
         slot->state.compare_exchange_strong(
             seen, reinterpret_cast<std::uintptr_t>(self) | slot_state::flag | slot_state::waited,
             std::memory_order_acq_rel, std::memory_order_acquire);
}

/// Runs in place of a fork that was taken out of its slot from under younger tasks: does nothing.
strand* run_hole(task_slot* slot, task_stack* here) noexcept {
  sanitizer::releases(&slot->state);
  if (here == nullptr) slot->state.store(slot_state::moved, std::memory_order_release);
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

}  // namespace

void wait_behind_others(executor& home) {
  const auto at_once = [](void*, strand* left) {
    left->home->resume(left);
    return true;
  };
  home.suspend(at_once, nullptr, "its turn behind messages");
}

void task_stack::set_up(task_slot* slots, std::uint32_t capacity, task_stack_home* home,
                        strand* self, bool external) noexcept {
  first_ = slots;
  last_ = slots + capacity;
  home_ = home;
  self_ = self;
  external_ = external;
  shared_at_ = {};
  yielded_at_ = {};
  record_.inline_runs.store(0, std::memory_order_relaxed);
  record_.running.set_up(slots);
  top_.store(slots, std::memory_order_relaxed);
  limit_.store(resting_limit(external, first_, last_), std::memory_order_relaxed);
  floor_.store(external ? no_floor : slots, std::memory_order_relaxed);
  shared_.reset(0);
  asked_.store(0, std::memory_order_relaxed);
}

bool task_stack::verify() noexcept {
  const std::lock_guard guard(mover_);
  const shared_part::bounds shared = shared_.now();
  const std::uint32_t top = index(next_slot());
  const std::uint32_t capacity = index(last_);
  const task_slot* floor = floor_.load(std::memory_order_relaxed);
  const task_slot* limit = limit_.load(std::memory_order_relaxed);
  return shared.tail <= shared.split && shared.split <= top && top <= capacity &&
         (floor == no_floor ||
          (!external_ && (floor == first_ + shared.split || floor == first_ + shared.split + 1))) &&
         (limit == first_ || limit == last_);
}

/// Takes the slot at the top, already popped, back from wherever it is offered.
bool task_stack::take_back(task_slot* slot) noexcept {
  if (external_) return home_->take_back(*this, slot);
  const std::lock_guard guard(mover_);
  const bool mine = reclaim(index(slot));
  // A guard that outlived the sleepers ends here, too.
  const bool wanted = asked_.load(std::memory_order_relaxed) != 0 || is_announced() ||
                      floor_.load(std::memory_order_relaxed) == no_floor ||
                      shared_.now().split == index(slot);
  if (mine && wanted) answer(index(slot));
  return mine;
}

/// All tasks of the strand are stolen: frees the slots of the spawned ones on top. Each is free
/// once its thief has moved the closure out of it.
void task_stack::drop_stolen(task_slot* bottom) noexcept {
  task_slot* slot = next_slot();
  while (slot > bottom && (slot - 1)->is_spawned()) {
    --slot;
    wait_until_moved(*slot);
  }
  const std::lock_guard guard(mover_);
  top_.store(slot, std::memory_order_release);
  begin_anew(index(slot));
}

/// Waits for the thief. `top` is the strand's first free slot while it waits.
void task_stack::wait_for_thief(task_slot* slot, task_slot* top) noexcept {
  const auto done = [&] { return slot->state.load(std::memory_order_acquire) == slot_state::done; };
  if (!creek::spin_until(done, worth_waiting)) {
    // Until the thief has read the task's type, the waiter must not write in its place.
    spin_briefly(
        [&] { return (slot->state.load(std::memory_order_acquire) & slot_state::flag) != 0; });
    top_.store(top, std::memory_order_release);
    home_->suspend(
        publish_join, slot,
        {"a branch of its fork_join on another worker", wait_reason::kind::branch, slot});
  }
  follow_others();
  sanitizer::acquired(&slot->state);
}

/// Joins a fork under tasks that its first branch spawned and that were not waited for yet. They
/// stay where they are, above the slot, for their waiter to run: run here, they could block on what
/// this task does after its join.
join_result task_stack::join_buried(task_slot* slot) noexcept {
  if (external_) {
    const bool mine = home_->take_back(*this, slot);
    if (mine) leave_hole(slot);
    home_->work_available();  // younger tasks were out of the deque for a moment
    if (mine) return join_result::run_inline;
  } else {
    const std::lock_guard guard(mover_);  // keeps thieves from sharing the slot before it is a hole
    if (reclaim(index(slot))) {
      leave_hole(slot);
      return join_result::run_inline;
    }
  }
  wait_for_thief(slot, next_slot());
  // From here on it looks like a stolen spawned task; the result stays in it until the caller takes
  // the result.
  std::atomic_ref(slot->owner).fetch_or(task_slot::spawned_bit, std::memory_order_relaxed);
  slot->state.store(slot_state::moved, std::memory_order_release);
  return join_result::done;
}

/// Frees slots of a full stack whose tasks are all stolen.
void task_stack::drop_if_all_stolen() noexcept {
  if (shared_.now().tail >= index(last_)) drop_stolen(scope().base);
}

/// Returns a slot of a stack that was full, or null. External deques are bounded on purpose: the
/// push there finds no room and runs the task at once.
task_slot* task_stack::make_room() noexcept {
  if (external_) return last_;
  drop_if_all_stolen();
  if (next_slot() == last_) home_->run_surplus(*this);
  return next_slot() != last_ ? next_slot() : nullptr;
}

bool task_stack::pushed_slow(task_slot* slot) noexcept {
  sanitizer::releases(&slot->state);  // for run_stolen()
  const bool room = slot != last_ && (!external_ || home_->offer(*this, slot));
  if (!room) {
    top_.store(slot, std::memory_order_release);
    record_.count_inline_run();
    if (!external_) {
      // Thieves would starve while the owner runs one fork after the other.
      if (asked_.load(std::memory_order_relaxed) != 0) {
        const std::lock_guard guard(mover_);
        answer(index(slot));
      }
      drop_if_all_stolen();
      mind_messages(*slot);
    }
    if (slot->is_spawned()) run_popped(slot, this);
    return false;
  }
  if (!external_) {
    shared_.prefetch_to_write();  // a polling thief has it: fetch it to write, once
    const std::lock_guard guard(mover_);
    answer(index(slot) + 1);
  }
  assert(verify());
  home_->work_available();
  mind_messages(*slot);
  return true;
}

/// Lets messages go first if some wait, or makes the next join do so: the caller of a spawn does
/// not expect that other code runs in it, and may hold a lock.
void task_stack::mind_messages(const task_slot& pushed) noexcept {
  if (!pushed.is_spawned()) {
    let_messages_go_first();
  } else if (has_messages()) {
    floor_.store(no_floor, std::memory_order_relaxed);
  }
}

/// Returns false if the strand has yielded just now: endless senders leave it most of its time.
bool task_stack::yield_to_messages() noexcept {
  if (tick_clock::now() - yielded_at_ < tick_clock::from_nanoseconds(min_turn)) return false;
  wait_behind_others(*home_);
  yielded_at_ = tick_clock::now();
  return true;
}

void task_stack::let_messages_go_first() noexcept {
  if (has_messages() && !yield_to_messages()) ask();
}

/// Continues where run_newest() met the shared part.
bool task_stack::run_newest_slow(task_slot* slot, task_slot* bottom,
                                 const task_context* awaited) noexcept {
  if (has_messages()) {
    top_.store(slot + 1, std::memory_order_release);
    (void)yield_to_messages();
    top_.store(slot, std::memory_order_release);
    creek::light_fence();
  }
  for (;;) {
    if (take_back(slot)) {
      if (has_messages()) ask();  // too early, or came meanwhile
      run_popped(slot, current_stack);
      return true;
    }
    if (!external_) {
      // Stolen, and with it everything below.
      top_.store(slot + 1, std::memory_order_release);
      drop_stolen(bottom);
      return false;
    }
    wait_until_moved(*slot);
    if (--slot < bottom || !may_run_here(*slot, awaited)) return false;
    top_.store(slot, std::memory_order_release);
    creek::light_fence();
  }
}

/// Does the joins that the fast path cannot: takes the slot back from the shared part, or out from
/// under spawned tasks that were not waited for, answers thieves, or waits for the slot's thief.
join_result task_stack::join_slow(task_slot* slot) noexcept {
  if (next_slot() > slot + 1) return join_buried(slot);
  top_.store(slot, std::memory_order_release);
  creek::light_fence();
  if (take_back(slot)) {
    let_messages_go_first();
    return join_result::run_inline;
  }
  const bool worthwhile =
      tick_clock::now() - shared_at_ > tick_clock::from_nanoseconds(worth_sharing);
  // Without another stack, suspend() runs tasks here: they go above the slot.
  wait_for_thief(slot, slot + 1);
  top_.store(slot, std::memory_order_release);
  if (external_) return join_result::done;
  const std::lock_guard guard(mover_);
  begin_anew(index(slot));
  if (worthwhile) share_next();
  return join_result::done;
}

void task_stack::share_next() noexcept {
  if (!external_) limit_.store(first_, std::memory_order_relaxed);
}

void task_stack::share_all() noexcept {
  if (external_) return;
  const std::lock_guard guard(mover_);
  const std::uint32_t top = index(next_slot());
  const std::uint32_t split = shared_.now().split;
  if (top <= split) return;
  shared_.raise_split(split, top);
  floor_.store(first_ + top, std::memory_order_relaxed);
  // Thieves may take all, the task that guards the stack too, and the strand may go on in place.
  limit_.store(first_, std::memory_order_relaxed);
}

void task_stack::refresh_armed() noexcept {
  if (external_) return;
  const std::lock_guard guard(mover_);
  const bool armed = is_announced() || asked_.load(std::memory_order_relaxed) != 0;
  limit_.store(resting_limit(armed, first_, last_), std::memory_order_relaxed);
}

}  // namespace creek::ext
