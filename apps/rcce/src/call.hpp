// SPDX-License-Identifier: Apache-2.0
// Begin and end of every function of the C interface: finds the calling UE, notes what the call is
// about, and keeps exceptions out of the program, which may be C.
#pragma once

#include <exception>
#include <utility>

#include "ue.hpp"

namespace creek::rcce {

/// Returns the UE whose program runs on this thread now, or nullptr outside of UEs. UEs of the chip
/// share a thread and switch only within calls, so each call sets at its end which UE goes on.
ue* current() noexcept;
void set_current(ue* one) noexcept;
/// Returns current(). Without a UE it prints the name of the call and ends the process.
ue& require_current(const char* call) noexcept;

/// Ends the UE's program by jumping back to where it was called.
[[noreturn]] void leave_program(ue& self) noexcept;

/// Called before and after a call, whose time is not the program's; throw if the run has failed.
void begin_call(ue& self);
void end_call(ue& self);

struct peer_of_call {
  const char* what = "";
  int number = -1;
};

/// Calls `body(ue&)` for the function `name`. An exception from it ends the UE, which rethrows it
/// where the run can see it.
template <class Body>
auto call(const char* name, peer_of_call peer, Body body) noexcept {
  ue& self = require_current(name);
  self.activity = {name, peer.what, peer.number};
  using result = decltype(body(self));
  try {
    begin_call(self);
    if constexpr (std::is_void_v<result>) {
      body(self);
      set_current(&self);
      self.activity = {};
      end_call(self);
      return;
    } else {
      const result got = body(self);
      set_current(&self);
      self.activity = {};
      end_call(self);
      return got;
    }
  } catch (...) {
    self.failure = std::current_exception();
  }
  set_current(&self);
  leave_program(self);
}

/// Prints the error if the program asked for errors of that kind, and returns it.
int report_error(ue& self, int kind, int error);

/// Variant of call() for functions that return RCCE_SUCCESS or an error of the kind.
template <class Body>
int call_checked(const char* name, int kind, peer_of_call peer, Body body) noexcept {
  return call(name, peer, [&](ue& self) {
    const int error = body(self);
    return error == RCCE_SUCCESS ? error : report_error(self, kind, error);
  });
}

}  // namespace creek::rcce
