// SPDX-License-Identifier: Apache-2.0
// Waiting when the system refuses another stack (memory or mappings used up). The strand stays on
// its stack and its worker makes progress from there: it goes on with strands that are ready, takes
// a stack as soon as there is one, and, while the stack is less than half full, runs other tasks on
// top. The last is what a runtime without fibers does for every wait; it is the one situation in
// which a task may have to wait for one that it has buried, as docs/tasking-lifecycle.md says.
#include <chrono>
#include <cstdio>
#include <mutex>

#include <creek/core/futex.hpp>
#include <creek/core/sanitizer.hpp>

#include "scheduler.hpp"

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

/// Looks at fibers, not frames: under AddressSanitizer locals may lie elsewhere.
bool has_room(const fiber& self) noexcept {
  const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  return static_cast<std::size_t>(here - self.stack_low) > self.stack_size / 2;
}

}  // namespace

/// Called to resume `suspended`: returns the fiber to make ready for that, or null if the waiting
/// fiber was notified where it is. Its release pairs with the load in wait_in_place().
fiber* scheduler::off_stack(host_strand* suspended) noexcept {
  if (!suspended->in_place) return static_cast<fiber*>(suspended);
  auto& wait = *static_cast<in_place_wait*>(suspended);
  fiber* carrier = wait.carrier;  // the wait may be gone once it was notified
  sanitizer::releases(&wait.news);
  if (wait.news.exchange(in_place_wait::told, std::memory_order_acq_rel) ==
      in_place_wait::off_stack) {
    return carrier;
  }
  futex_wake(wait.news, 1);
  return nullptr;
}

void scheduler::wait_in_place(fiber& self, detail::publish_fn publish, void* argument) noexcept {
  say_once();
  detail::task_slot* const bottom = self.tasks.top.load(std::memory_order_relaxed);
  in_place_wait wait(self);
  if (!publish(argument, &wait)) return;
  while (wait.news.load(std::memory_order_acquire) == in_place_wait::on_stack) {
    if (!make_progress(self, wait, bottom)) {
      (void)futex_wait_until(wait.news, in_place_wait::on_stack,
                             deadline_clock::now() + retry_after);
    }
  }
  sanitizer::acquired(&wait.news);
  // Tasks that ran here may have left others above those of the waiting task.
  while (detail::run_newest(&self.tasks, bottom)) {
  }
}

/// Makes one step; returns false if there was nothing to do.
bool scheduler::make_progress(fiber& self, in_place_wait& wait,
                              detail::task_slot* bottom) noexcept {
  found_work work;
  work.resumed = self.on->bound.pop();
  if (!work) work.resumed = self.on->ready.pop();
  if (!work) work.resumed = idle_fiber(*self.on);
  if (!work && has_room(self)) {
    if (detail::run_newest(&self.tasks, bottom)) return true;
    work.slot = steal_from(self.tasks);  // a task that the waiting task itself has made
    if (!work) work = search(*self.on, true);
  } else if (!work) {
    drain();
  }
  if (!work) return false;
  if (work.resumed != nullptr) {
    const auto leave_wait = [](void* argument, detail::strand* off) {
      auto expected = static_cast<std::uint32_t>(in_place_wait::on_stack);
      const bool waits = static_cast<in_place_wait*>(argument)->news.compare_exchange_strong(
          expected, in_place_wait::off_stack, std::memory_order_acq_rel);
      if (!waits) off->home->resume(off);  // notified meanwhile
      return true;
    };
    offer_all(self.tasks);
    leave_waiting(self, *work.resumed, leave_wait, &wait);
  } else if (work.letters) {
    serve(self);
  } else if (detail::strand* released = run_task(self, work)) {
    released->home->resume(released);
  }
  return true;
}

}  // namespace creek::host_backend
