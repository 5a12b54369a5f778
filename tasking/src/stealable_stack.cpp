// SPDX-License-Identifier: Apache-2.0
// The split of the split deque, and the thief's side.
#include <mutex>

#include <creek/core/threads/sanitizer.hpp>
#include <creek/tasking/ext/task_stack.hpp>

#include "stack_words.hpp"

namespace creek::ext {

steal_result shared_part::take_oldest(task_slot* slots, task_slot*& task) noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  const bounds seen = bounds_of(word);
  if (seen.empty()) return steal_result::empty;
  __builtin_prefetch(slots + seen.tail);  // on its way while the word is fetched to write
  if (!word_.compare_exchange_strong(word, word + 1, std::memory_order_acq_rel,
                                     std::memory_order_relaxed)) {
    return steal_result::lost;
  }
  task = slots + seen.tail;
  return steal_result::taken;
}

bool shared_part::lower_split(std::uint32_t index, bool least) noexcept {
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  for (;;) {
    const bounds seen = bounds_of(word);
    if (seen.tail > index) return false;
    if (seen.split <= index) return true;
    const std::uint32_t lowered = least ? index : seen.tail + (index - seen.tail) / 2;
    if (word_.compare_exchange_weak(word, word_of({seen.tail, lowered}), std::memory_order_acq_rel,
                                    std::memory_order_relaxed)) {
      return true;
    }
  }
}

/// If thieves have taken all that was shared, shares half of the private tasks; then sets the limit
/// and the floor to what they are without a pending question: the stack is armed, guarded or
/// neither.
/// An announced push shares all: force_share() could otherwise take a task not yet announced.
/// `asked` is cleared last: a thief that asks in between sees it set and asks again later, so its
/// question is not wiped out. By an exchange: the owner looks for messages next, and the sender of
/// one does not ask if it finds `asked` still set.
void stealable_stack::answer(std::uint32_t top) noexcept {
  const shared_part::bounds shared = shared_.now();
  std::uint32_t split = shared.split;
  const bool all = sanitizer::needs_announcements();
  if (top > split && (all || shared.empty())) {
    const std::uint32_t raised = all ? top : split + (top - split + 1) / 2;
    shared_.raise_split(split, raised);
    split = raised;
    shared_at_ = tick_clock::now();
  }
  const announced_pushes announced = home_->announced();
  const bool guarded = announced == announced_pushes::oldest && top > split && !all;
  const bool armed = announced != announced_pushes::none && !guarded;
  limit_.store(resting_limit(armed, first_, last_), std::memory_order_relaxed);
  floor_.store(floor_over(split, guarded), std::memory_order_relaxed);
  asked_.exchange(0, std::memory_order_seq_cst);
}

/// Makes the slot private if no thief has it. A floor that was raised so that the owner looks at
/// something stays so until it answers.
bool stealable_stack::reclaim(std::uint32_t index) noexcept {
  const std::uint32_t before = shared_.now().split;
  if (!shared_.lower_split(index, sanitizer::needs_announcements())) return false;
  const std::uint32_t split = shared_.now().split;
  if (split != before && floor_.load(std::memory_order_relaxed) != no_floor) {
    const bool guarded = !is_armed() && is_announced();
    floor_.store(floor_over(split, guarded), std::memory_order_relaxed);
  }
  return true;
}

/// Everything at and below `index` is stolen (thieves take the oldest first): the next task goes to
/// `index` again. A raised floor stays, as in reclaim().
void stealable_stack::begin_anew(std::uint32_t index) noexcept {
  shared_.reset(index);
  if (floor_.load(std::memory_order_relaxed) != no_floor)
    floor_.store(first_ + index, std::memory_order_relaxed);
}

void stealable_stack::ask() noexcept {
  if (external_ || asked_.load(std::memory_order_relaxed) != 0) return;
  if (asked_.exchange(1, std::memory_order_acquire) != 0) return;
  limit_.store(first_, std::memory_order_relaxed);
  floor_.store(no_floor, std::memory_order_relaxed);
}

/// Returns the first free slot. The spare slot, which the owner writes and leaves again when a task
/// does not fit, never counts: the owner takes it back without asking.
std::uint32_t stealable_stack::top_for_thieves() const noexcept {
  const task_slot* top = top_.load(std::memory_order_acquire);
  return index(top < last_ ? top : last_);
}

bool stealable_stack::force_share() noexcept {
  if (external_ || sanitizer::needs_announcements() || !mover_.try_lock()) return false;
  const std::uint32_t split = shared_.now().split;
  std::uint32_t top = top_for_thieves();
  std::uint32_t raised = split;
  if (top > split) {
    const std::uint32_t wish = split + (top - split + 1) / 2;
    // The stack may lose the task that guards it: the next push announces.
    limit_.store(first_, std::memory_order_relaxed);
    floor_.store(first_ + wish, std::memory_order_relaxed);
    // From here on a join below `wish` goes to the slow path and waits for the lock; one that
    // passed before has its store of the top visible.
    creek::heavy_fence();
    top = top_for_thieves();
    raised = top < wish ? top : wish;
    if (raised < split) raised = split;
    if (raised > split) shared_.raise_split(split, raised);
    floor_.store(first_ + raised, std::memory_order_relaxed);
  }
  mover_.unlock();
  return raised > split;
}

void stealable_stack::arm() noexcept {
  if (external_) return;
  const std::lock_guard guard(mover_);
  limit_.store(first_, std::memory_order_relaxed);
}

bool stealable_stack::is_armed() const noexcept {
  return external_ || limit_.load(std::memory_order_relaxed) == first_;
}

std::uint32_t stealable_stack::count_work() const noexcept {
  // In this order a stack that is never empty meanwhile does not look empty.
  const std::uint32_t tail = shared_.now(std::memory_order_acquire).tail;
  const std::uint32_t top = index(top_.load(std::memory_order_acquire));
  return top > tail ? top - tail : 0;
}

}  // namespace creek::ext
