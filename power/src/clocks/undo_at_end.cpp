// SPDX-License-Identifier: Apache-2.0
// Signal handlers synchronise with forget() as follows. A handler increments `inside` before it
// reads `pending`; forget() clears `pending` before it reads `inside`. Both in sequential
// order, so either the handler finds nothing or forget() waits for it. A handler never waits,
// and a handler that interrupts forget() in its own thread has left `inside` when forget()
// continues.
#include "undo_at_end.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

namespace creek::power {

namespace {

struct ending_signal {
  int number;
  bool even_if_handled;  // else only instead of the default action
  bool fault;            // recurs when its instruction is repeated
};

constexpr std::array ending_signals{
    ending_signal{SIGHUP, true, false},     ending_signal{SIGINT, true, false},
    ending_signal{SIGQUIT, true, false},    ending_signal{SIGTERM, true, false},
    ending_signal{SIGABRT, true, false},    ending_signal{SIGSEGV, true, true},
    ending_signal{SIGBUS, true, true},      ending_signal{SIGFPE, true, true},
    ending_signal{SIGILL, true, true},      ending_signal{SIGPIPE, false, false},
    ending_signal{SIGALRM, false, false},   ending_signal{SIGUSR1, false, false},
    ending_signal{SIGUSR2, false, false},   ending_signal{SIGXCPU, false, false},
    ending_signal{SIGXFSZ, false, false},   ending_signal{SIGSYS, false, false},
    ending_signal{SIGVTALRM, false, false}, ending_signal{SIGPROF, false, false},
    ending_signal{SIGTRAP, false, false},
};

std::mutex registry;  // guards registration; never locked in a handler
std::array<bool, ending_signals.size()> installed;             // maybe below another handler
std::array<struct sigaction, ending_signals.size()> previous;  // written before our handler is set

constinit std::atomic<undoable*> pending{nullptr};
constinit std::atomic<pid_t> owner{0};  // process that made the change
constinit std::atomic<int> inside{0};
constinit std::atomic<bool> at_exit{false};  // undo_at_exit() will be called

template <class Do>
void with_pending(Do&& act) noexcept {
  inside.fetch_add(1, std::memory_order_seq_cst);
  undoable* const change = pending.load(std::memory_order_seq_cst);
  if (change != nullptr && owner.load(std::memory_order_relaxed) == getpid()) act(*change);
  inside.fetch_sub(1, std::memory_order_seq_cst);
}

void undo_pending() noexcept {
  with_pending([](undoable& change) { change.undo(); });
}

bool has_handler(const struct sigaction& of) noexcept {
  return (of.sa_flags & SA_SIGINFO) != 0 || (of.sa_handler != SIG_DFL && of.sa_handler != SIG_IGN);
}

void set_default(int signal) noexcept {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
}

/// A fault recurs by itself, and then shows where; any other signal has to be sent again, and
/// arrives when the handler returns.
void end_by(const ending_signal& which, const siginfo_t& info) noexcept {
  set_default(which.number);
  if (!which.fault || info.si_code <= 0) raise(which.number);
}

void on_ending_signal(int signal, siginfo_t* info, void* context) {
  std::size_t i = 0;
  while (ending_signals[i].number != signal) ++i;
  const int interrupted = errno;
  undo_pending();
  errno = interrupted;
  const struct sigaction& before = previous[i];
  const bool informed = (before.sa_flags & SA_SIGINFO) != 0;
  if (!informed && before.sa_handler == SIG_DFL) {
    end_by(ending_signals[i], *info);
    return;
  }
  // If the previous handler sends the signal again, the default action must follow.
  if ((before.sa_flags & SA_RESETHAND) != 0) set_default(signal);
  if (informed) {
    before.sa_sigaction(signal, info, context);
  } else {
    before.sa_handler(signal);
  }
  // If the handler set the default action, it expects the signal to be sent again.
  struct sigaction now {};
  sigaction(signal, nullptr, &now);
  if (!has_handler(now)) return;
  with_pending([](undoable& change) { change.resume(); });
}

bool is_ours(const struct sigaction& of) noexcept {
  return (of.sa_flags & SA_SIGINFO) != 0 && of.sa_sigaction == on_ending_signal;
}

void install(std::size_t i) noexcept {
  const auto [signal, even_if_handled, fault] = ending_signals[i];
  struct sigaction before {};
  if (sigaction(signal, nullptr, &before) != 0 || is_ours(before)) return;
  // A handler installed over ours is assumed to call it: installing ours over it would be a cycle.
  if (has_handler(before) && (installed[i] || !even_if_handled)) return;
  if (!has_handler(before) && before.sa_handler == SIG_IGN) return;
  previous[i] = before;
  struct sigaction ours {};
  ours.sa_sigaction = on_ending_signal;
  ours.sa_mask = before.sa_mask;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & (SA_RESTART | SA_NODEFER));
  installed[i] = sigaction(signal, &ours, nullptr) == 0;
}

void uninstall(std::size_t i) noexcept {
  struct sigaction current {};
  if (!installed[i] || sigaction(ending_signals[i].number, nullptr, &current) != 0) return;
  if (!is_ours(current)) return;
  sigaction(ending_signals[i].number, &previous[i], nullptr);
  installed[i] = false;
}

void undo_at_exit() noexcept {
  at_exit.store(false, std::memory_order_seq_cst);  // before it looks for a change
  undo_pending();
}

/// Has a change that is pending undone at exit. Returns false if the process has called all that it
/// calls then; while it does, it calls what is added, too.
bool watch_exit() noexcept {
  if (at_exit.exchange(true, std::memory_order_seq_cst)) return true;
  if (std::atexit(undo_at_exit) == 0 && std::at_quick_exit(undo_at_exit) == 0) return true;
  at_exit.store(false, std::memory_order_seq_cst);
  return false;
}

}  // namespace

registration undo_at_end(undoable& change) noexcept {
  const std::lock_guard lock(registry);
  if (owner.load(std::memory_order_relaxed) != getpid()) {
    // The first one, or a child process whose parent's handlers will never leave.
    pending.store(nullptr, std::memory_order_seq_cst);
    inside.store(0, std::memory_order_seq_cst);
    owner.store(getpid(), std::memory_order_relaxed);
  }
  undoable* none = nullptr;
  if (!pending.compare_exchange_strong(none, &change, std::memory_order_seq_cst)) {
    return none == &change ? registration::done : registration::another_change;
  }
  if (!watch_exit()) {
    pending.store(nullptr, std::memory_order_seq_cst);
    return registration::too_late;
  }
  for (std::size_t i = 0; i < ending_signals.size(); ++i) install(i);
  return registration::done;
}

void forget(undoable& change) noexcept {
  const std::lock_guard lock(registry);
  undoable* registered = &change;
  if (!pending.compare_exchange_strong(registered, nullptr, std::memory_order_seq_cst)) return;
  if (owner.load(std::memory_order_relaxed) != getpid()) return;
  while (inside.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
  for (std::size_t i = 0; i < ending_signals.size(); ++i) uninstall(i);
}

}  // namespace creek::power
