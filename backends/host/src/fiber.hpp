// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks that a worker can leave and another one continue. Each carries the task stack of
// the strand that runs on it.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>

#include <creek/tasking/detail/task_stack.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define CREEK_ASAN_FIBERS 1
#endif
#if defined(__SANITIZE_THREAD__)
#define CREEK_TSAN_FIBERS 1
#endif

namespace creek::host_backend {

class scheduler;
struct worker;
struct mpb_deque;

/// The C++ runtime's record of exceptions being handled belongs to the stack, not to the thread.
struct exception_state {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

/// One stack with its strand. Lies at the top of its own mapping, so that a fiber that was never
/// deep touches two pages:  guard page | stack, growing down | fiber | task slots
struct fiber : detail::strand {
  boost::context::detail::fcontext_t context = nullptr;
  void* mapping = nullptr;
  std::size_t mapping_size = 0;
  std::byte* stack_low = nullptr;  ///< lowest usable byte; the guard page lies below
  std::size_t stack_size = 0;
  worker* on = nullptr;   ///< who runs it, or ran it last
  fiber* link = nullptr;  ///< next in a pool or a ready list
  bool parked = false;    ///< listed as a suspended strand with unstarted tasks
  exception_state exceptions;
  mpb_deque* mpb = nullptr;  ///< its deque if the scheduler uses the lock-based one
#ifdef CREEK_ASAN_FIBERS
  void* fake_stack = nullptr;
#endif
#ifdef CREEK_TSAN_FIBERS
  void* tsan = nullptr;
#endif
  detail::task_stack tasks;
};

inline fiber* fiber_of(detail::task_stack* stack) noexcept {
  return static_cast<fiber*>(stack->self);
}

/// Maps a fiber with a stack of at least `stack_size` bytes and `capacity` slots. `entry` is called
/// on it at the first switch. Throws creek::error if the system refuses the mapping.
fiber* map_fiber(std::size_t stack_size, std::uint32_t capacity,
                 void (*entry)(boost::context::detail::transfer_t));
void unmap_fiber(fiber* unused) noexcept;
/// Gives the touched pages of an idle fiber's stack and slots back to the system.
void trim_fiber(fiber& idle) noexcept;

/// Leaves `from` for `to`; returns when somebody switches to `from` again, perhaps on another
/// thread. Saves what belongs to a stack: registers, floating-point control, exceptions in flight.
/// Returns the fiber that was left for this one, whose context is then valid.
fiber* switch_fiber(fiber& from, fiber& to) noexcept;
/// What switch_fiber() does after the jump; for the first instructions on a new fiber.
fiber* fiber_entered(fiber& self, boost::context::detail::transfer_t transfer) noexcept;

/// For the fiber object that stands for a thread's own stack.
void adopt_thread_stack(fiber& native) noexcept;

/// Installs (once a process) the handler that turns a hit on a guard page into a message naming the
/// task, and gives this thread an alternate signal stack. The handler is chained.
class overflow_guard {
 public:
  overflow_guard();
  ~overflow_guard();
  overflow_guard(const overflow_guard&) = delete;
  overflow_guard& operator=(const overflow_guard&) = delete;

 private:
  void* alternate_stack_;
};

}  // namespace creek::host_backend
