// SPDX-License-Identifier: Apache-2.0
// Putting back what was changed in the system, however the process ends: exit(), quick_exit(), an
// exception that nobody catches, a signal that ends it. Only SIGKILL, _exit() and a machine that
// stops leave the change behind.
#pragma once

namespace creek::power {

/// A change of the system that must not outlive this process.
class undoable {
 public:
  /// Puts things back and keeps them so until resume(). Called in handlers of signals, so: system
  /// calls and lock-free atomics only; maybe in several threads at once, and more than once.
  virtual void undo() noexcept = 0;
  /// The process goes on after all: a handler that was there before dealt with the signal.
  virtual void resume() noexcept = 0;

 protected:
  ~undoable() = default;
};

/// From now until forget(), `change` is undone if the process ends. One at a time: false if there
/// is another one. Any thread. Until then these signals are taken over:
///
/// - SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL: the handler that
///   was there before is called after undo(); if it returns and has not set the default action,
///   resume() is called;
/// - others that end a process: only where nobody handles them.
///
/// Without an earlier handler the default action follows. Ignored signals stay ignored. A child
/// made by fork() undoes nothing that its parent changed.
[[nodiscard]] bool undo_at_end(undoable& change) noexcept;

/// Waits for an undo() of another thread. No effect for what is not registered.
void forget(undoable& change) noexcept;

}  // namespace creek::power
