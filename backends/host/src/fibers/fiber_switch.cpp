// SPDX-License-Identifier: Apache-2.0
// Leaving a fiber and arriving on another one.
#include "fiber_switch.hpp"

#include <utility>

#include <creek/core/threads/asymmetric_fence.hpp>

namespace creek::host_backend {

namespace {

bool has_leftovers(const fiber& here) noexcept {
  return here.tasks.next_slot() != here.tasks.slots();
}

}  // namespace

/// Switches to `target`; returns when a fiber switches back here, with the fiber left for that.
fiber* fiber_switch::leave(worker& here, fiber& target, departure::kind what) noexcept {
  fiber& self = *here.current;
  check_stack(self);
  here.after.what = what;
  here.after.left = &self;
  here.current = &target;
  if (std::exchange(target.on, &here) != &here) ext::follow_others();
  ext::current_stack = target.is_thread ? nullptr : &target.tasks;
  here.active.store(ext::current_stack, std::memory_order_release);
  // A sender may have asked the strand that is left.
  if (here.gets_messages) full_fence();
  if (here.called.load(std::memory_order_relaxed) && !target.is_thread) [[unlikely]]
    target.tasks.ask();
  return static_cast<fiber*>(&switch_stacks(self, target));
}

/// Returns false if `previous` wants to go on instead.
bool fiber_switch::settle(fiber& self, fiber* previous) noexcept {
  worker& here = *self.on;
  const departure& after = here.after;
  switch (after.what) {
    case departure::kind::none:
      break;
    case departure::kind::recycle:
      fibers_.recycle(here.idle_fibers, *previous);
      break;
    case departure::kind::make_ready:
      work_.make_ready(here, *previous);
      break;
    case departure::kind::hold:
      park(*previous);
      break;
    case departure::kind::publish:
      park(*previous);
      if (!after.publish(after.argument, previous)) return false;
      break;
  }
  if (!self.is_thread && work_.maybe_sleepers()) self.tasks.refresh_armed();
  return true;
}

/// Lists a strand that was left if it has tasks that have not started; it may be listed already.
void fiber_switch::park(fiber& left) noexcept {
  if (left.parked == nullptr && work_.deques().has_work(left.tasks)) work_.park(left);
}

void fiber_switch::unpark(fiber& self) noexcept {
  if (self.parked != nullptr) work_.parked().remove(self);
}

void fiber_switch::leave_for(fiber& self, fiber& target) noexcept {
  work_.waking().governor().task_begins(self.on->index);
  const bool keeps = has_leftovers(self);
  if (keeps) work_.offer_all(self.tasks);
  const auto after = keeps ? departure::kind::make_ready : departure::kind::recycle;
  // The same again if it is continued in the place of a strand whose wait is over.
  arrive(self, leave(*self.on, target, after), after);
}

/// Records that a strand leaves its stack.
recorder::absence fiber_switch::note_leave(fiber& self) noexcept {
  recorder* const records = self.on->recording();
  return records != nullptr ? records->leave() : recorder::absence{};
}

/// Records that it goes on, perhaps on another worker.
void fiber_switch::note_return(fiber& self, recorder::absence left) noexcept {
  recorder* const records = self.on->recording();
  if (records == nullptr) [[likely]]
    return;
  const ext::task_type* const type = self.tasks.scope().type;
  records->go_on(left, type != nullptr ? type->name : nullptr);
}

void fiber_switch::leave_held(fiber& self, fiber& next) noexcept {
  const recorder::absence left = note_leave(self);
  // `next` may leave for `self` to wait, and find that its wait is over: then `self` is not idle.
  arrive(self, leave(*self.on, next, departure::kind::hold), departure::kind::make_ready);
  unpark(self);
  note_return(self, left);
}

void fiber_switch::leave_waiting(fiber& self, fiber& next, ext::publish_fn publish,
                                 void* argument) noexcept {
  worker& here = *self.on;
  here.counters.add(counter::suspends);
  const recorder::absence left = note_leave(self);
  here.after.publish = publish;
  here.after.argument = argument;
  // A strand that goes on here in the place of another one, whose wait is over, is not idle.
  arrive(self, leave(here, next, departure::kind::publish), departure::kind::make_ready);
  unpark(self);
  note_return(self, left);
}

}  // namespace creek::host_backend
