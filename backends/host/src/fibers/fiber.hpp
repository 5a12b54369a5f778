// SPDX-License-Identifier: Apache-2.0
// Fibers: stacks that a worker can leave and another one continue. Each carries the task stack of
// the strand that runs on it.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <creek/core/threads/stack_slabs.hpp>
#include <creek/core/threads/stack_switch.hpp>
#include <creek/tasking/ext/task_stack.hpp>

#include "wait_note.hpp"

namespace creek::host_backend {

struct worker;
struct mpb_deque;

/// A strand of this backend: a fiber off its stack, a wait that could not get off it, or a thread
/// that waits for its task and acts as a worker meanwhile.
struct host_strand : ext::strand {
  enum class kind : std::uint8_t { fiber, in_place, loan } what = kind::fiber;
};

/// Memory of a fiber, with a guard below.
struct fiber_memory {
  std::byte* low = nullptr;  ///< lowest usable byte
  bool in_slab = false;      ///< a slab's, else to be given back to the pool of stacks
  bool guarded = true;       ///< the guard is inaccessible, else checked by check_stack()
};

/// Neighbours of a fiber in parked_strands; null while it is not listed.
struct parked_link {
  parked_link* before = nullptr;
  parked_link* behind = nullptr;
};

/// One stack with its strand. Lies at the top of the stack, so that a fiber that was never deep
/// touches one page:  guard | stack, growing down | fiber | task slots
struct fiber : host_strand, switch_context, parked_link {
  std::size_t mapped = 0;    ///< bytes from `stack_low` to the end of the task slots
  worker* on = nullptr;      ///< worker that runs it, or ran it last
  fiber* link = nullptr;     ///< next in a pool or a ready list
  bool bound = false;        ///< handles a message: continues on the worker that it is on
  bool is_thread = false;    ///< stands for a thread's own stack
  bool in_slab = false;      ///< as in fiber_memory
  bool guarded = true;       ///< as in fiber_memory
  worker* parked = nullptr;  ///< worker that parked it, suspended with unstarted tasks, or null
  wait_note waits;
  mpb_deque* mpb = nullptr;  ///< its deque if the scheduler uses the lock-based one
  ext::task_stack tasks;
};

/// A wait for which there was no other stack, in the frame of the fiber that waits. The fiber can
/// leave the stack later, when there is one, or inside another wait.
struct in_place_wait : host_strand {
  enum state : std::uint32_t {
    on_stack,   ///< its fiber looks here for the news
    off_stack,  ///< its fiber was left: the resuming thread makes the fiber ready
    notified,
  };
  explicit in_place_wait(fiber& waiting) noexcept : carrier(&waiting) {
    home = waiting.home;
    what = kind::in_place;
  }
  fiber* carrier;
  std::atomic<std::uint32_t> news{on_stack};
};

inline fiber* fiber_of(const ext::stealable_stack* stack) noexcept {
  return static_cast<fiber*>(stack->self());
}

struct fiber_deleter {
  void operator()(fiber* unused) const noexcept;
};
using fiber_ptr = std::unique_ptr<fiber, fiber_deleter>;

/// Returns the bytes of memory that a fiber needs for a stack of at least `stack_size` bytes and
/// `capacity` slots.
std::size_t fiber_bytes(std::size_t stack_size, std::uint32_t capacity) noexcept;
/// Makes a fiber in unused memory of fiber_bytes(stack_size, capacity). `entry` is called on it at
/// the first switch.
fiber_ptr make_fiber(const fiber_memory& memory, std::size_t stack_size, std::uint32_t capacity,
                     void (*entry)(switch_context& self, switch_context& previous)) noexcept;
/// Has the system supply the pages that a task needs at least, if it can.
void populate_fiber(fiber& idle) noexcept;
/// Gives the touched pages of an idle fiber's stack and slots back to the system.
void trim_fiber(fiber& idle) noexcept;

/// Reports an overflow of the fiber's stack and ends the process.
[[noreturn]] void end_by_overflow(const fiber& hit) noexcept;
/// Called on a fiber that is about to leave its stack: ends the process if the stack has no guard
/// and has overflowed.
inline void check_stack(const fiber& leaving) noexcept {
  if (!leaving.guarded && has_overflowed(leaving.stack_low)) [[unlikely]]
    end_by_overflow(leaving);
}

/// Returns whether less than half of the running fiber's stack is used; false on a stack of the
/// program's own. Looks at the frame, not at locals, which may lie elsewhere under
/// AddressSanitizer.
inline bool has_room(const fiber& self) noexcept {
  const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
  const auto left = static_cast<std::size_t>(here - self.stack_low);
  return left > self.stack_size / 2 && left <= self.stack_size;
}

inline constexpr std::size_t signal_stack_bytes = std::size_t{64} << 10;

/// Installs (once per process) the handler that turns a hit on a guard page into a message naming
/// the task, and gives this thread an alternate signal stack. The handler is chained.
class overflow_guard {
 public:
  /// `stack`, of `signal_stack_bytes`, is the thread's until the guard ends, which gives back the
  /// one before (of a sanitizer, for instance); with null it gets none.
  explicit overflow_guard(std::byte* stack);
  ~overflow_guard();
  overflow_guard(const overflow_guard&) = delete;
  overflow_guard& operator=(const overflow_guard&) = delete;

 private:
  const bool has_stack_;
  stack_t before_{};
};

}  // namespace creek::host_backend
