// SPDX-License-Identifier: Apache-2.0
// Workers and their fibers: the loop that runs the work that a search found, suspending, resuming.
#include "scheduler.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <new>

#include <creek/host/affinity.hpp>

#include "external_deques.hpp"
#include "messages.hpp"

namespace creek::host_backend {

using detail::strand;
using detail::task_stack;

namespace {

/// Idle fibers that a worker keeps for itself with their pages, and that the common pool keeps with
/// them; those beyond are trimmed.
constexpr unsigned warm_fibers = 128;
constexpr unsigned warm_spares = 512;

/// A stolen task shorter than this costs its owner more than it saves.
constexpr std::chrono::nanoseconds worth_stealing{500};

bool has_leftovers(const fiber& here) noexcept {
  return here.tasks.top.load(std::memory_order_relaxed) != here.tasks.first;
}

}  // namespace

// --- Fibers -------------------------------------------------------------------------------------

/// Returns nullptr, with the reason in errno, if there is no memory for a fiber.
fiber* scheduler::make_fiber() noexcept {
  fiber_ptr made = map_fiber(options_.stack_size, options_.deque_capacity, &scheduler::fiber_main);
  if (!made) return nullptr;
  made->home = this;
  detail::init_task_stack(made->tasks, made->tasks.first, options_.deque_capacity, this, made.get(),
                          external_);
  try {
    if (external_ && options_.deque == deque_kind::mpb) {
      made->mpb = new mpb_deque(options_.deque_capacity);
    }
    const std::lock_guard lock(fibers_mutex_);
    fibers_.push_back(std::move(made));
    return fibers_.back().get();
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return nullptr;
  }
}

/// Returns an idle fiber, or nullptr if there is none and the system refuses another.
fiber* scheduler::idle_fiber(worker& here) noexcept {
  fiber* taken = here.idle_fibers;
  if (taken == nullptr) {
    taken = spare_fibers_.pop();
    return taken != nullptr ? taken : make_fiber();
  }
  here.idle_fibers = taken->link;
  --here.idle_count;
  return taken;
}

/// Recycles a fiber. A worker may recycle what others take, so its surplus goes to the common pool.
void scheduler::recycle(worker& here, fiber& unused) noexcept {
  if (here.idle_count >= warm_fibers) {
    if (spare_fibers_.size() >= warm_spares) trim_fiber(unused);
    spare_fibers_.push(unused);
    return;
  }
  unused.link = here.idle_fibers;
  here.idle_fibers = &unused;
  ++here.idle_count;
}

void scheduler::switch_to(worker& here, fiber& target, departure after) noexcept {
  fiber& self = *here.current;
  fiber* previous = leave(here, target, after);
  // Its wait was over before it began: switch back. A loop, as that may happen again and again.
  while (!arrived(self, previous)) {
    previous = leave(*self.on, *previous, {departure::kind::recycle});
  }
}

/// Switches to `target`; returns when a fiber switches back here, with the fiber left for that.
fiber* scheduler::leave(worker& here, fiber& target, departure after) noexcept {
  fiber& self = *here.current;
  after.left = &self;
  here.after = after;
  here.current = &target;
  target.on = &here;
  const bool is_native = &target == &here.native;
  detail::current_stack = is_native ? nullptr : &target.tasks;
  here.active.store(is_native ? nullptr : &target.tasks, std::memory_order_release);
  return static_cast<fiber*>(&switch_stacks(self, target));
}

/// Runs first on a fiber that was switched to: does what the fiber before it left to be done.
/// Returns false if that fiber wants to go on instead.
bool scheduler::arrived(fiber& self, fiber* previous) noexcept {
  worker& here = *self.on;
  const departure after = std::exchange(here.after, {});
  switch (after.what) {
    case departure::kind::none:
      break;
    case departure::kind::recycle:
      recycle(here, *previous);
      break;
    case departure::kind::make_ready:
      here.ready.push(*previous);
      work_available();
      break;
    case departure::kind::publish:
      if (strand_has_work(previous->tasks)) park(*previous);
      if (!after.publish(after.argument, previous)) return false;
      break;
  }
  if (&self != &self.on->native && keep_armed()) {
    detail::refresh_armed(self.tasks);
  }
  return true;
}

/// Continues the loop of `self` on `target`; tasks that `self` still holds are left to be taken.
void scheduler::leave_for(fiber& self, fiber& target) noexcept {
  tell_of_task(*self.on);
  const bool keeps = has_leftovers(self);
  if (keeps) offer_all(self.tasks);
  switch_to(*self.on, target, {keeps ? departure::kind::make_ready : departure::kind::recycle});
}

void scheduler::suspend(detail::publish_fn publish, void* argument) {
  require_workers();
  const detail::stall_pause uncounted(*this);
  fiber& self = *fiber_of(detail::current_stack);
  suspended_.fetch_add(1, std::memory_order_relaxed);
  offer_all(self.tasks);
  if (fiber* next = idle_fiber(*self.on)) {
    leave_waiting(self, *next, publish, argument);
  } else {
    wait_in_place(self, publish, argument);
  }
  suspended_.fetch_sub(1, std::memory_order_relaxed);
}

/// Leaves the stack until the strand that `publish` was given is resumed.
void scheduler::leave_waiting(fiber& self, fiber& next, detail::publish_fn publish,
                              void* argument) noexcept {
  worker& here = *self.on;
  here.counters.add(counter::suspends);
  trace::end(here.track.load(std::memory_order_acquire));
  departure after{departure::kind::publish};
  after.publish = publish;
  after.argument = argument;
  switch_to(here, next, after);
  if (self.parked != nullptr) unpark(self);
  trace::begin(self.on->track.load(std::memory_order_acquire), "resumed");
}

void scheduler::resume(strand* suspended) {
  const int index = worker_index();
  const visit here(visitors_, index < 0);
  fiber* target = off_stack(static_cast<host_strand*>(suspended));
  if (target == nullptr) return;
  if (target->bound) {
    make_bound_ready(*target);
    return;
  }
  worker* queue = index >= 0 ? workers_[static_cast<unsigned>(index)].get() : target->on;
  if (queue->serves_only) queue = target->on;
  queue->ready.push(*target);
  work_available();
}

void scheduler::park(fiber& suspended) noexcept {
  parked_lock_.lock();
  suspended.parked = suspended.on;
  parked_.push_back(&suspended);
  parked_count_.fetch_add(1, std::memory_order_release);
  parked_lock_.unlock();
  work_available();
}

void scheduler::unpark(fiber& resumed) noexcept {
  parked_lock_.lock();
  resumed.parked = nullptr;
  std::erase(parked_, &resumed);
  parked_count_.fetch_sub(1, std::memory_order_relaxed);
  parked_lock_.unlock();
}

// --- The loop -----------------------------------------------------------------------------------

void scheduler::fiber_main(switch_context& context, switch_context& left) {
  auto& self = static_cast<fiber&>(context);
  auto* previous = static_cast<fiber*>(&left);
  auto* home = static_cast<scheduler*>(self.home);
  while (!home->arrived(self, previous)) {
    previous = home->leave(*self.on, *previous, {departure::kind::recycle});
  }
  home->loop(self);
}

void scheduler::loop(fiber& self) {
  while (!finished_.load(std::memory_order_acquire)) {
    if (lost_in_fork()) [[unlikely]]
      end_forked_child();
    if (serve(self)) {
      // Endless senders must not keep others from going on.
      if (found_work next = taken_back(*self.on)) execute(self, next);
      continue;
    }
    // Runs tasks that ended tasks left behind, newest first, before any from outside.
    if (detail::run_newest(&self.tasks, self.tasks.first)) {
      self.on->counters.add(counter::tasks);
      continue;
    }
    if (found_work work = find_work(*self.on)) execute(self, work);
  }
  switch_to(*self.on, self.on->native, {departure::kind::recycle});
  std::terminate();  // no fiber switches to one of a finished scheduler
}

/// Looks once, then waits. A worker beyond those that a policy wants awake does not even look.
scheduler::found_work scheduler::find_work(worker& self) {
  const bool looks = policy() == nullptr || self.serves_only || !too_many_awake();
  found_work work = looks ? search(self, false) : found_work{};
  return work ? work : idle(self);
}

void scheduler::tell_of_task(const worker& self, const char* name) noexcept {
  if (policy() != nullptr) [[unlikely]]
    policy()->task_about_to_run(self.index, {.name = name});
}

void scheduler::execute(fiber& self, found_work work) {
  if (work.resumed != nullptr) {
    leave_for(self, *work.resumed);
    return;
  }
  if (work.letters) return;  // the loop serves them
  strand* released = run_task(self, work);
  if (released == nullptr) return;
  // Greedy: the strand that waited for this task continues here and now.
  if (released->home == this) {
    fiber* waiter = off_stack(static_cast<host_strand*>(released));
    if (waiter != nullptr && waiter->bound) {
      make_bound_ready(*waiter);
    } else if (waiter != nullptr) {
      leave_for(self, *waiter);
    }
  } else {
    released->home->resume(released);
  }
}

/// Runs a slot or a submitted task; returns the strand that waits for just this one, or null.
strand* scheduler::run_task(fiber& self, found_work work) noexcept {
  self.on->counters.add(counter::tasks);
  tell_of_task(*self.on);
  trace::track* track = self.on->track.load(std::memory_order_acquire);
  strand* released = nullptr;
  if (work.slot != nullptr) {
    trace::begin(track, "stolen");
    const ticks start = tick_clock::now();
    // After a worthwhile task, thieves find this one's first task without asking.
    if (self.on->small_steals == 0) detail::share_next(self.tasks);
    released = detail::run_stolen(work.slot);
    const bool small = tick_clock::now() - start < tick_clock::from_nanoseconds(worth_stealing);
    self.on->small_steals = small ? self.on->small_steals + 1 : 0;
  } else {
    trace::begin(track, "submitted");
    work.task->run(work.task);
  }
  trace::end(self.on->track.load(std::memory_order_acquire));
  return released;
}

void scheduler::run_worker(worker& self) {
  overflow_guard guard;
  name_this_thread(options_.name + "/" + std::to_string(self.index));
  adopt_thread_stack(self.native);
  self.native.on = &self;
  self.current = &self.native;
  fiber* first = self.idle_fibers;
  self.idle_fibers = nullptr;
  self.idle_count = 0;
  switch_to(self, *first, {});
}

int scheduler::worker_index() const noexcept {
  if (detail::current_stack == nullptr || detail::current_stack->home != this) return -1;
  return static_cast<int>(fiber_of(detail::current_stack)->on->index);
}

void scheduler::fork(void (*left)(void*) noexcept, void* left_argument,
                     void (*right)(void*) noexcept, void* right_argument) {
  left(left_argument);  // strands of this backend own task stacks and never come here
  right(right_argument);
}

counter_values scheduler::counters() const {
  counter_values sum;
  for (const auto& each : workers_) sum += each->counters.snapshot();
  const std::lock_guard lock(fibers_mutex_);
  for (const fiber_ptr& each : fibers_) {
    sum[counter::inline_runs] += each->tasks.inline_runs.load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace creek::host_backend
