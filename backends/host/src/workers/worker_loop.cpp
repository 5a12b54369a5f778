// SPDX-License-Identifier: Apache-2.0
// The loop of a worker; suspending and resuming strands.
#include "worker_loop.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <string>

#include <creek/core/decimal.hpp>
#include <creek/core/error.hpp>
#include <creek/host/affinity.hpp>

namespace creek::host_backend {

using ext::strand;

namespace {

/// Tasks that run on another stack when a deque is full: enough to make two switches cheap, and so
/// few that their slots stay in the first cache.
constexpr std::ptrdiff_t surplus = 256;

/// Every such resumed strand continues by way of the loop.
constexpr unsigned direct_switches = 32;

/// Times that a worker handles messages between two looks at the work of others, which cost about
/// as much as a short message each.
constexpr unsigned services_between_looks = 32;
/// Looks between two that ask others to share tasks, and have them share.
constexpr unsigned looks_between_questions = 32;

/// Returns whether the newest task at or above `bottom` is that of a future.
bool begins_future(const ext::task_stack& tasks, const ext::task_slot* bottom) noexcept {
  const ext::task_slot* const next = tasks.next_slot();
  return next > bottom && is_of_future(next[-1]);
}

/// Returns the fiber that waits for `self` to run its tasks, or null.
fiber* maker_of(const fiber& self) noexcept {
  const ext::task_stack* const full = self.tasks.acts_for();
  return full != nullptr ? fiber_of(full) : nullptr;
}

/// Returns the same, for the caller to continue: `self` runs no more of its tasks.
fiber* leave_maker(fiber& self) noexcept {
  fiber* const maker = maker_of(self);
  self.tasks.record().acts_for = nullptr;
  return maker;
}

}  // namespace

[[gnu::cold]] worker_loop::worker_loop(ext::backend& home, worker_set& workers, ready_work& work)
    : home_(home),
      workers_(workers),
      work_(work),
      messages_(home, workers, work.waking()),
      search_(workers, work, messages_),
      shutdown_(home, workers, work.waking(), messages_),
      switch_({.stack_size = workers.options().stack_size,
               .deque_capacity = workers.options().deque_capacity,
               .home = &home,
               .entry = &worker_loop::fiber_main,
               .external = work.deques().external(),
               .lock_based = work.deques().lock_based()},
              work),
      hangs_(workers, work.waking().state(), shutdown_, switch_.fibers()),
      idle_(workers, work, messages_, search_, shutdown_, switch_, hangs_),
      runner_(work),
      in_place_(work, messages_, search_, switch_, runner_),
      lender_(workers, work, messages_, shutdown_, switch_) {
  for (worker& each : workers_) {
    each.loop = this;
    each.native.is_thread = true;
    each.native.on = &each;
    each.current = &each.native;
    each.first = switch_.idle_fiber(each);
    if (each.first == nullptr) {
      const int reason = errno;
      throw error(reason, "cannot map stacks for " + decimal(workers.size()) +
                              " workers; lower workers or stack_size, or raise the limit");
    }
  }
  idle_.begin_asleep();
}

void worker_loop::start() {
  try {
    workers_.start(&worker_loop::run_worker);
  } catch (...) {
    shutdown_.finish();
    workers_.join();
    throw;
  }
}

[[gnu::cold]] void worker_loop::shut_down() noexcept {
  shutdown_.request();
  if (is_at_rest()) {
    shutdown_.finish();
  } else {
    work_.waking().wake_consumers();
  }
  workers_.join();
  workers_.guests().wait_until_gone();
}

/// Returns whether every worker sleeps and nothing is left to do: then nobody has to be woken to
/// find that out. Called by a thread from outside.
bool worker_loop::is_at_rest() noexcept {
  const std::uint64_t before = shutdown_.sleeps_ended();
  return work_.waking().state().sleepers() == workers_.size() && work_.outside() == 0 &&
         !messages_.in_use() && !shutdown_.any_suspended() && !search_.any_work() &&
         shutdown_.sleeps_ended() == before;
}

[[gnu::cold]] void worker_loop::run_worker(worker& self) {
  worker_loop& loop = *self.loop;
  if (loop.shutdown_.finished()) return;
  overflow_guard guard(self.signal_stack);
  name_this_thread(loop.workers_.options().name + "/" + decimal(self.index));
  adopt_thread_stack(self.native);
  loop.idle_.begin(self);
  if (loop.shutdown_.finished()) return;
  loop.switch_.switch_to(self, *self.first, departure::kind::none);
}

void worker_loop::fiber_main(switch_context& context, switch_context& left) {
  auto& self = static_cast<fiber&>(context);
  worker_loop& loop = *self.on->loop;
  loop.switch_.arrive(self, static_cast<fiber*>(&left));
  loop.run(self);
}

void worker_loop::run(fiber& self) {
  if (self.on->borrowed == nullptr && std::exchange(self.on->begins_asleep, false)) {
    if (const found_work work = idle_.find_first_work(*self.on)) execute(self, work);
  }
  while (!shutdown_.finished() || self.on->borrowed != nullptr) {
    workers_.end_if_lost();
    messages_.begin_to_listen(*self.on);
    if (maker_of(self) != nullptr) {
      messages_.end_listening(self);  // for the maker, which a message that waits lets go on
      messages_.serve(self);
      if (fiber* const maker = maker_of(self)) run_tasks_of(*maker, self);
      continue;
    }
    if (self.on->borrowed != nullptr && visit_goes_on(self, *self.on->borrowed)) continue;
    if (messages_.serve(self)) {
      go_on_beside_messages(self);
      continue;
    }
    if (const found_work first = out_of_order(*self.on)) [[unlikely]] {
      execute(self, first);
      continue;
    }
    // Runs tasks that ended tasks left behind, newest first, before others from outside.
    if (run_newest(self, self.tasks, self.tasks.slots())) continue;
    const found_work work = idle_.find_work(*self.on);
    loan* const borrowed = self.on->borrowed;
    if (borrowed != nullptr && lender_.must_leave(*borrowed, work)) {
      if (!work.messages()) borrowed->kept = work;
    } else if (work) {
      execute(self, work);
    }
  }
  switch_.switch_to(*self.on, self.on->native, departure::kind::recycle);
  std::terminate();  // no fiber switches to one of a finished scheduler
}

/// Does one other thing: endless senders must not keep the worker from it. Now and then one that it
/// does last when it has no messages, for which it may be the only worker: a task of a strand that
/// waits, or what another worker has left for a call without end, at last also unshared tasks.
inline void worker_loop::go_on_beside_messages(fiber& self) {
  worker& here = *self.on;
  const unsigned services = ++here.services;
  found_work next = out_of_order(here);
  if (!next && services % services_between_looks == 0 && here.borrowed == nullptr) {
    // The fiber may go on elsewhere if others have taken its tasks: it yields before it finds out.
    if (run_newest(self, self.tasks, self.tasks.slots()) || self.on != &here) return;
    const bool at_last = services / services_between_looks % looks_between_questions == 0;
    next = search_.beside_messages(here, at_last);
    if (!next && at_last) search_.force_victims(here);
  } else if (!next) {
    next = search_.without_stealing(here);
  }
  if (next) execute(self, next);
}

/// Runs the newest task of `from` at or above `bottom` on the running fiber; returns false if there
/// is none.
bool worker_loop::run_newest(fiber& self, ext::task_stack& from, ext::task_slot* bottom) noexcept {
  if (from.next_slot() <= bottom) return false;
  if (begins_future(from, bottom)) work_.future_begins();
  messages_.end_listening(self);
  if (!task_runner::run_newest(self, from, bottom)) return false;
  self.on->counters.add(counter::tasks);
  return true;
}

/// Returns work that goes before others because of its priority, or in turn.
inline found_work worker_loop::out_of_order(worker& here) noexcept {
  return work_.submissions().any_not_normal() ? search_.before_own(here) : found_work{};
}

/// Begins the borrower's task, or leaves for the borrower's own stack; returns false if neither is
/// due. Continues here if the fiber is used again.
bool worker_loop::visit_goes_on(fiber& self, loan& borrowed) {
  if (ext::submitted_task* task = std::exchange(borrowed.task, nullptr)) {
    execute(self, task);
  } else if (borrowed.kept || lender_.must_leave(borrowed, {}) ||
             begins_future(self.tasks, self.tasks.slots())) {
    switch_.leave_for(self, borrowed.native);
  } else {
    return false;
  }
  return true;
}

void worker_loop::execute(fiber& self, found_work work) {
  if (!work.messages()) messages_.end_listening(self);
  if (fiber* resumed = work.resumed()) {
    switch_.leave_for(self, *resumed);
  } else if (!work.messages()) {  // run() serves them
    if (strand* released = runner_.run(self, work)) continue_released(self, released);
  }
}

/// Continues the strand that waited for the task that has just ended, here and now (greedy).
void worker_loop::continue_released(fiber& self, strand* released) {
  if (released->home != &home_) {
    released->home->resume(released);
    return;
  }
  fiber* waiter = in_place_waiter::off_stack(released);
  if (waiter == nullptr) return;
  if (waiter->bound) {
    messages_.make_bound_ready(*waiter);
  } else {
    switch_.leave_for(self, *waiter);
  }
}

/// Has an idle fiber run tasks of the calling one, which goes on when they have ended, or when one
/// of them waits. A fiber that handles a message stays on its worker and is not left for this.
void worker_loop::run_surplus(ext::task_stack& full) noexcept {
  fiber& self = *fiber_of(&full);
  const ext::task_slot* const newest = full.next_slot() - 1;
  if (self.bound || newest < full.scope().base || !newest->is_spawned()) return;
  fiber* const other = switch_.idle_fiber(*self.on);
  if (other == nullptr) return;
  other->tasks.record().acts_for = &full;
  switch_.leave_held(self, *other);
}

/// Runs some of the tasks of `maker`, which waits for that, and what they leave behind, then
/// continues it. Acts as the owner of its task stack: nobody else can continue it, unless a task
/// that runs here waits, for then suspend() continues it.
void worker_loop::run_tasks_of(fiber& maker, fiber& self) {
  ext::task_stack& full = maker.tasks;
  ext::task_slot* const base = full.scope().base;
  const ext::task_slot* const enough =
      full.next_slot() - std::min(surplus, full.next_slot() - base);
  if (recorder* const records = self.on->recording()) records->begin_slice("surplus");
  while (maker_of(self) != nullptr) {
    const bool left_behind = self.tasks.next_slot() != self.tasks.slots();
    if (!left_behind && full.next_slot() <= enough) break;
    ext::task_stack& from = left_behind ? self.tasks : full;
    ext::task_slot* const bottom = left_behind ? self.tasks.slots() : base;
    // A future's task may outlive the borrower's call.
    if (self.on->borrowed != nullptr && begins_future(from, bottom)) break;
    if (run_newest(self, from, bottom)) {
      workers_.end_if_lost();
      if (self.on->called.load(std::memory_order_relaxed)) [[unlikely]]
        messages_.serve(self);
    } else if (!left_behind) {
      break;
    }
  }
  if (recorder* const records = self.on->recording()) records->end_slice();
  if (fiber* const waiting = leave_maker(self)) switch_.leave_for(self, *waiting);
}

/// Returns a strand that was resumed on the worker of `self`, to continue at once in its place, or
/// null if there is none or the loop has more to look at.
fiber* worker_loop::resumed_here(const fiber& self) noexcept {
  worker& here = *self.on;
  // Two strands that wake each other must not keep the loop from other work.
  if (++here.continued % direct_switches == 0) return nullptr;
  if (here.ready.empty() || self.bound || here.serves_only || here.borrowed != nullptr ||
      messages_.in_use() || work_.submissions().any_not_normal() ||
      work_.waking().governor().policy() != nullptr)
    return nullptr;
  return here.ready.pop();
}

void worker_loop::suspend(ext::publish_fn publish, void* argument, const ext::wait_reason& why) {
  workers_.require_present();
  ext::tell_others();
  const ext::stall_pause uncounted(home_);
  fiber& self = *fiber_of(ext::current_stack);
  wait_note::wait outer;  // of a task below, where there was no other stack
  if (self.waits.is_set()) [[unlikely]]
    outer = self.waits.get();
  const ext::task_type* const type = self.tasks.scope().type;
  self.on->suspended.add(1);
  work_.offer_all(self.tasks);
  fiber* next = leave_maker(self);
  if (next == nullptr) next = resumed_here(self);
  if (next == nullptr) next = switch_.idle_fiber(*self.on);
  self.waits.set({why.what, type != nullptr ? type->name : nullptr, tick_clock::now(),
                  next != nullptr ? wait_subject(why) : wait_subject()});
  if (next != nullptr) {
    switch_.leave_waiting(self, *next, publish, argument);
  } else {
    in_place_.wait(self, publish, argument);
  }
  self.on->suspended.add(-1);
  ext::follow_others();
  self.waits.clear();
  if (outer.what != nullptr) [[unlikely]]
    self.waits.set(outer);
  switch_.fibers().wait_has_ended();
}

void worker_loop::resume(strand* suspended) {
  const int index = workers_.index_of_caller();
  const visit here(workers_.guests(), index < 0);
  if (static_cast<host_strand*>(suspended)->what == host_strand::kind::loan) {
    return static_cast<loan*>(suspended)->end(work_.waking());
  }
  fiber* target = in_place_waiter::off_stack(suspended);
  if (target == nullptr) return;
  if (target->bound) {
    messages_.make_bound_ready(*target);
    return;
  }
  worker* queue = index >= 0 ? &workers_[static_cast<unsigned>(index)] : target->on;
  if (queue->serves_only) queue = target->on;
  work_.make_ready(*queue, *target);
}

}  // namespace creek::host_backend
