// SPDX-License-Identifier: Apache-2.0
// Flows of control with stacks of their own, switched by the program: what fibers and cores of
// backends are made of. Sanitizers, valgrind and debuggers are notified, the
// sanitizers also where this library was compiled without them (docs/design/0007).
// For authors of backends; a program has tasks instead.
#pragma once

#include <cstddef>
#include <memory>

#include <creek/core/language.hpp>

namespace creek {

/// One flow of control, off or on its stack. It does not own the stack. While it is off, any thread
/// may switch to it, one at a time.
struct switch_context {
  std::byte* stack_low = nullptr;  ///< lowest usable byte
  std::size_t stack_size = 0;
  void* saved = nullptr;  ///< where its registers are while it is off
  void (*entry)(switch_context& self, switch_context& previous) = nullptr;
  /// The C++ runtime's record of exceptions being handled belongs to the stack, not to the thread.
  struct {
    void* caught = nullptr;
    unsigned uncaught = 0;
  } exceptions;
  void* fake_stack = nullptr;    ///< AddressSanitizer's fake stack
  void* thread_state = nullptr;  ///< ThreadSanitizer's state of the flow
  unsigned valgrind_id = 0;
};

/// Makes `fresh` a flow that begins with `entry(fresh, previous)` on [low, low + size) at the first
/// switch to it. `entry` does not return. Undone by release_context(), when it is off its stack.
void prepare_context(switch_context& fresh, std::byte* low, std::size_t size,
                     void (*entry)(switch_context& self, switch_context& previous)) noexcept;
void release_context(switch_context& unused) noexcept;

/// Makes `native` stand for the calling thread's own stack, to be switched from and back to.
void adopt_thread_stack(switch_context& native) noexcept;
/// Called around the time for which a thread of the user leaves its own stack: a leak checker
/// searches that stack meanwhile, as it searches the stack on which the thread runs.
void begin_absence(const switch_context& native) noexcept;
void end_absence(const switch_context& native) noexcept;

/// Switches from `from`, which runs here, to `to`; returns when a flow switches to `from` again,
/// perhaps on another thread. Saves what belongs to a stack: registers, floating-point control,
/// exceptions in flight. Returns the context that was left for this one; only then may that be
/// switched to.
switch_context& switch_stacks(switch_context& from, switch_context& to) noexcept;

/// Maps memory for a stack: only pages that are touched cost memory, and the `guard_bytes` below it
/// are inaccessible. Returns null, with the reason in errno, if the system refuses.
inline constexpr std::size_t guard_bytes = std::size_t{64} << 10;
std::byte* map_guarded(std::size_t size) noexcept;
void unmap_guarded(std::byte* low, std::size_t size) noexcept;

}  // namespace creek
