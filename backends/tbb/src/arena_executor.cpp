// SPDX-License-Identifier: Apache-2.0
// Running, forking, suspending and resuming on oneTBB.
#include "arena_executor.hpp"

#include <oneapi/tbb/task.h>

#include <algorithm>
#include <cstring>

#include "task_place.hpp"

namespace creek::onetbb {

using ext::strand;
using ext::submitted_task;

namespace {

/// A stack that oneTBB keeps; in the frame of its suspend().
struct suspended_stack : strand {
  tbb::task::suspend_point point = nullptr;
};

void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace

// --- Tasks --------------------------------------------------------------------------------------

void arena_executor::submit(submitted_task* task) {
  if (ext::current_executor() == this) {
    group_.run([this, task] { run_submitted(task, found::in_deque); });
  } else {
    enqueue(task);
  }
}

/// Puts the task into the arena's queue, read only by workers without a task of ours on the stack.
void arena_executor::enqueue(submitted_task* task) {
  // A thread outside: the task may run, and the runtime end, before enqueue() returns.
  const visit here(guests_, ext::current_executor() != this);
  arena_.enqueue(group_.defer([this, task] { run_submitted(task, found::in_queue); }));
  call_a_thread();
}

void arena_executor::run_submitted(submitted_task* task, found where) noexcept {
  if (where == found::in_deque && is_on_top(*this)) {
    enqueue(task);
    return;
  }
  const task_visit visit(*this, where == found::in_queue);
  count(here().tasks);
  trace::begin(here().track.load(std::memory_order_relaxed), "task");
  task->run(task);
  trace::end(here().track.load(std::memory_order_relaxed));
}

/// Has the object take the message here, as workers have no rings of messages.
void arena_executor::send(unsigned /*to*/, const void* message, std::size_t bytes) {
  std::byte copy[active_message_bytes];
  std::memcpy(copy, message, bytes);
  ext::arrive(*this, copy, bytes);
}

// --- Forks --------------------------------------------------------------------------------------

void arena_executor::fork(void (*left)(void*) noexcept, void* left_argument,
                          void (*right)(void*) noexcept, void* right_argument) {
  forked_branch branch(right, right_argument);
  branch.group.run([this, &branch] { run_forked(branch); });
  left(left_argument);
  const bool claimed_here = branch.claim();
  if (claimed_here) {
    right(right_argument);
  } else if (!branch.has_ended()) {
    suspend(&forked_branch::publish, &branch, "a branch of its fork_join");
  }
  {
    // The group's task has nothing to do any more, but may lie in some deque yet, most often on top
    // of this worker's.
    const task_absence absence(task_absence::stack::waits);
    branch.group.wait();
  }
  if (claimed_here && branch.passed_on) take_off_list(branch);
}

/// Runs as the group's task.
void arena_executor::run_forked(forked_branch& branch) noexcept {
  if (branch.claimed.load(std::memory_order_acquire)) return;
  if (is_on_top(*this)) {
    pass_on(branch);
  } else if (branch.claim()) {
    run_claimed(branch, found::in_deque);
  }
}

void arena_executor::run_claimed(forked_branch& branch, found where) noexcept {
  {
    const task_visit visit(*this, where == found::in_queue);
    count(here().tasks);
    count(here().steals_won);
    trace::begin(here().track.load(std::memory_order_relaxed), "branch");
    branch.run(branch.argument);
    trace::end(here().track.load(std::memory_order_relaxed));
  }
  if (strand* maker = branch.end()) maker->home->resume(maker);
}

/// Leaves the branch to a worker whose stack is free, or to its maker. Not through the group: the
/// maker waits for the group's task, and must not depend on any stack becoming free.
void arena_executor::pass_on(forked_branch& branch) {
  {
    const std::lock_guard lock(passed_on_mutex_);
    if (branch.claimed.load(std::memory_order_acquire)) return;
    branch.next = passed_on_;
    branch.previous = nullptr;
    if (passed_on_ != nullptr) passed_on_->previous = &branch;
    passed_on_ = &branch;
    branch.passed_on = true;
  }
  arena_.enqueue(group_.defer([this] { run_passed_on(); }));
  call_a_thread();
}

void arena_executor::run_passed_on() noexcept {
  forked_branch* branch = nullptr;
  {
    const std::lock_guard lock(passed_on_mutex_);
    for (branch = passed_on_; branch != nullptr && !branch->claim(); branch = branch->next) {
    }
    if (branch == nullptr) return;  // the makers have claimed them all
    unlink(*branch);
  }
  run_claimed(*branch, found::in_queue);
}

void arena_executor::take_off_list(forked_branch& branch) noexcept {
  const std::lock_guard lock(passed_on_mutex_);
  unlink(branch);
}

void arena_executor::unlink(forked_branch& branch) noexcept {
  (branch.previous != nullptr ? branch.previous->next : passed_on_) = branch.next;
  if (branch.next != nullptr) branch.next->previous = branch.previous;
}

// --- Suspending ---------------------------------------------------------------------------------

void arena_executor::suspend(ext::publish_fn publish, void* argument,
                             const ext::wait_reason& /*why*/) {
  const ext::stall_pause uncounted(*this);
  suspended_stack self;
  self.home = this;
  count(here().suspensions);
  trace::end(here().track.load(std::memory_order_relaxed));
  {
    const task_absence absence(task_absence::stack::left);
    tbb::task::suspend([this, &self, publish, argument](tbb::task::suspend_point point) {
      self.point = point;
      // Once published, the stack may run again, and this frame with it.
      if (!publish(argument, &self)) resume(&self);
    });
  }
  trace::begin(here().track.load(std::memory_order_relaxed), "resumed");
}

void arena_executor::resume(strand* suspended) {
  tbb::task::resume(static_cast<suspended_stack*>(suspended)->point);
  call_a_thread();  // the runtime may be gone by now
}

int arena_executor::slot_index() const noexcept {
  // An arena for one thread has two slots, of which one is in use at a time.
  return std::clamp(tbb::this_task_arena::current_thread_index(), 0,
                    static_cast<int>(options_.workers) - 1);
}

int arena_executor::worker_index() const noexcept {
  return ext::current_executor() == this ? slot_index() : -1;
}

}  // namespace creek::onetbb
