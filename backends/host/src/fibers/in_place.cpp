// SPDX-License-Identifier: Apache-2.0
// Makes progress under a wait that could not leave its stack.
#include "in_place.hpp"

#include <chrono>
#include <cstdio>
#include <mutex>

#include <creek/core/threads/futex.hpp>
#include <creek/core/threads/sanitizer.hpp>

namespace creek::host_backend {

using namespace std::chrono_literals;

namespace {

/// Time that a wait sleeps before it tries again to find work or memory; the end of the wait wakes
/// it.
constexpr auto retry_after = 100us;

void say_once() noexcept {
  static std::once_flag said;
  std::call_once(said, [] {
    std::fputs(
        "creek: no memory for another task's stack; waiting tasks run others on their own stack. "
        "Lower stack_size, or raise the limit of memory or vm.max_map_count\n",
        stderr);
  });
}

}  // namespace

fiber* in_place_waiter::off_stack(ext::strand* suspended) noexcept {
  auto* waiting = static_cast<host_strand*>(suspended);
  if (waiting->what == host_strand::kind::fiber) return static_cast<fiber*>(waiting);
  auto& wait = *static_cast<in_place_wait*>(waiting);
  fiber* carrier = wait.carrier;  // the wait may be gone once it was notified
  sanitizer::releases(&wait.news);
  if (wait.news.exchange(in_place_wait::notified, std::memory_order_acq_rel) ==
      in_place_wait::off_stack) {
    return carrier;
  }
  futex_wake(wait.news, 1);
  return nullptr;
}

void in_place_waiter::wait(fiber& self, ext::publish_fn publish, void* argument) noexcept {
  say_once();
  ext::task_slot* const bottom = self.tasks.next_slot();
  in_place_wait wait(self);
  if (!publish(argument, &wait)) return;
  while (wait.news.load(std::memory_order_acquire) == in_place_wait::on_stack) {
    if (!make_progress(self, wait, bottom)) {
      recorder* const records = self.on->recording();
      task_times* const times =
          records != nullptr ? records->begin_idling(recorder::idle::waiting) : nullptr;
      (void)futex_wait_until(wait.news, in_place_wait::on_stack,
                             deadline_clock::now() + retry_after);
      if (records != nullptr) records->end_idling(times);
    }
  }
  sanitizer::acquired(&wait.news);
  // Tasks that ran here may have left others above those of the waiting task.
  while (self.tasks.run_newest(bottom)) {
  }
}

/// Makes one step; returns false if there was nothing to do.
bool in_place_waiter::make_progress(fiber& self, in_place_wait& wait,
                                    ext::task_slot* bottom) noexcept {
  worker& here = *self.on;
  messages_.send_kept_back(here);
  found_work work = here.bound.pop();
  if (!work) work = here.ready.pop();
  if (!work) work = switch_.idle_fiber(here);
  if (!work && has_room(self)) {
    if (self.tasks.run_newest(bottom)) return true;
    // First a task that the waiting task itself has made.
    ext::task_slot* stolen = nullptr;
    const bool own = work_.deques().steal(self.tasks, stolen) == steal_result::taken;
    work = own ? found_work(stolen) : search_.at_last(*self.on);
  } else if (!work) {
    messages_.drain(here);
  }
  if (!work) return false;
  if (fiber* resumed = work.resumed()) {
    leave_wait(self, *resumed, wait);
  } else if (work.messages()) {
    messages_.serve(self);
  } else if (ext::strand* released = runner_.run(self, work)) {
    released->home->resume(released);
  }
  return true;
}

/// Leaves the stack after all, for `next`.
void in_place_waiter::leave_wait(fiber& self, fiber& next, in_place_wait& wait) noexcept {
  const auto publish = [](void* argument, ext::strand* off) {
    auto expected = static_cast<std::uint32_t>(in_place_wait::on_stack);
    const bool waits = static_cast<in_place_wait*>(argument)->news.compare_exchange_strong(
        expected, in_place_wait::off_stack, std::memory_order_acq_rel);
    if (!waits) off->home->resume(off);  // notified meanwhile
    return true;
  };
  work_.offer_all(self.tasks);
  switch_.leave_waiting(self, next, publish, &wait);
}

}  // namespace creek::host_backend
