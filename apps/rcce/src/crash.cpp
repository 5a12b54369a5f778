// SPDX-License-Identifier: Apache-2.0
#include "crash.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "call.hpp"

namespace creek::rcce {

namespace {

constexpr std::size_t handler_stack_bytes = std::size_t{64} << 10;

/// A line built without heap memory, which may be what is corrupt.
class plain_line {
 public:
  void add(std::string_view text) {
    const std::size_t fits = std::min(text.size(), sizeof text_ - used_);
    std::memcpy(text_ + used_, text.data(), fits);
    used_ += fits;
  }
  void add(std::uintptr_t number, int base) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
    add({digits, static_cast<std::size_t>(end - digits)});
  }
  void write() const { [[maybe_unused]] const auto lost = ::write(STDERR_FILENO, text_, used_); }

 private:
  char text_[256];
  std::size_t used_ = 0;
};

const char* name_of(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGBUS:
      return "bus error";
    case SIGFPE:
      return "arithmetic error";
    case SIGILL:
      return "illegal instruction";
    default:
      return "aborted";
  }
}

void handle(int signal, siginfo_t* about, void*) {
  ue* self = current();
  if (self == nullptr) {
    raise(signal);  // the handler was removed (SA_RESETHAND)
    return;
  }
  plain_line line;
  line.add("rccerun: UE ");
  line.add(static_cast<std::uintptr_t>(self->running()), 10);
  line.add(": ");
  line.add(name_of(signal));
  if (signal == SIGSEGV || signal == SIGBUS) {
    line.add(" at address 0x");
    line.add(reinterpret_cast<std::uintptr_t>(about->si_addr), 16);
  }
  line.add("\n");
  line.write();
  // Avoids _exit(), where a sanitizer checks what the threads of other UEs leave behind.
  syscall(SYS_exit_group, 1);
}

}  // namespace

void name_crashed_ues() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    sigaction(signal, &action, nullptr);
  }
}

handler_stack::handler_stack() : bytes_{std::make_unique<std::byte[]>(handler_stack_bytes)} {
  stack_t used{};
  used.ss_sp = bytes_.get();
  used.ss_size = handler_stack_bytes;
  sigaltstack(&used, nullptr);
}
handler_stack::~handler_stack() {
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

}  // namespace creek::rcce
