// SPDX-License-Identifier: Apache-2.0
// A program that crashes ends the run with a line that names the UE.
#pragma once

#include <cstddef>
#include <memory>

namespace creek::rcce {

/// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT of UEs from here on: prints which UE it was
/// and ends the process with status 1. Outside of UEs they do what they did.
void name_crashed_ues();

/// A stack for the handler on this thread, so that a UE's stack may overflow; one a thread.
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
