// SPDX-License-Identifier: Apache-2.0
// Undoes changes to the system however the process ends: exit(), quick_exit(), an uncaught
// exception, a fatal signal. Only SIGKILL, _exit() and a machine that stops leave the change
// behind.
#pragma once

namespace creek::power {

/// Change to the system that must not outlive this process.
class undoable {
 public:
  /// Undoes the change until resume(). Called in signal handlers: only system calls and lock-free
  /// atomics are allowed; possibly in several threads at once, and more than once.
  virtual void undo() noexcept = 0;
  /// Called if the process continues after all: an earlier handler dealt with the signal.
  virtual void resume() noexcept = 0;

 protected:
  ~undoable() = default;
};

enum class registration {
  done,
  another_change,  ///< is registered: one at a time
  too_late,        ///< the process is ending, or has no memory to be told of its end
};

/// Undoes `change` if the process ends before forget(). Any thread. Until forget(), it handles
/// these signals:
///
/// - SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL: the handler that
///   was there before is called after undo(); if it returns and has not set the default action,
///   resume() is called;
/// - others that end a process: only where nobody handles them.
///
/// Without an earlier handler the default action follows. Ignored signals stay ignored. A child
/// made by fork() undoes nothing that its parent changed.
[[nodiscard]] registration undo_at_end(undoable& change) noexcept;

/// Blocks until undo() in other threads is done. No effect for a change that is not registered.
void forget(undoable& change) noexcept;

}  // namespace creek::power
