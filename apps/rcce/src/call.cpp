// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include <creek/core/error.hpp>

namespace creek::rcce {

namespace {
constinit thread_local ue* running = nullptr;
}

ue* current() noexcept {
  return running;
}
void set_current(ue* one) noexcept {
  running = one;
}

ue& require_current(const char* call) noexcept {
  if (running == nullptr) {
    const std::string text = fmt::format("rccerun: {} was called outside of a UE\n", call);
    if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(1);
    _exit(1);
  }
  return *running;
}

void leave_program(ue& self) noexcept {
  longjmp(self.escape, 1);
}

void begin_call(ue& self) {
  self.stop_computing();
  if (self.run_failed.load(std::memory_order_relaxed)) {
    throw error(ECANCELED, "rccerun: another UE has failed");
  }
}
void end_call(ue& self) {
  self.start_computing();
}

}  // namespace creek::rcce
