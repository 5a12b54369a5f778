// SPDX-License-Identifier: Apache-2.0
// Threads of a library that leave the signals of a program to the program's own threads.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <creek/core/language.hpp>

namespace creek {

/// While it lives, threads that this thread starts block all signals except those of their own
/// faults, so that handlers keep running on threads of the program.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace creek
