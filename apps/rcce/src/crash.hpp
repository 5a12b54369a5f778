// SPDX-License-Identifier: Apache-2.0
// Ends the run with a line that names the UE if its program crashes.
#pragma once

#include <cstddef>
#include <memory>

namespace creek::rcce {

/// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT of UEs from here on: prints the UE and ends
/// the process with status 1. Outside of UEs these signals keep their former action.
void name_crashed_ues();

/// A stack for the handler on this thread, so that a UE's stack may overflow; one per thread.
class handler_stack {
 public:
  handler_stack();
  ~handler_stack();
  handler_stack(const handler_stack&) = delete;
  handler_stack& operator=(const handler_stack&) = delete;

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace creek::rcce
