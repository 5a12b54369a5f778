// SPDX-License-Identifier: Apache-2.0
// Handles an overflow of a task's stack: names the task. A hit on the guard below the stack dies as
// before; a stack without a guard is looked at when its task leaves it.
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include <creek/tasking/waiting.hpp>

#include "fiber.hpp"

namespace creek::host_backend {

namespace {

struct sigaction previous;

// Only async-signal-safe calls from here on.
void say(std::string_view text) noexcept {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
}

void say_number(std::uint64_t value) noexcept {
  char digits[20];
  char* end = digits + sizeof digits;
  char* begin = end;
  do {
    *--begin = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  say({begin, static_cast<std::size_t>(end - begin)});
}

void report(const fiber& hit) noexcept {
  say("creek: stack overflow in task '");
  const ext::task_type* type = hit.tasks.scope().type;
  say(type != nullptr ? ext::task_site(type->name) : "?");
  say("': its stack of ");
  say_number(hit.stack_size / 4096 * 4);  // the rest shares its page with the fiber
  say(" KiB is full; raise scheduler_options::stack_size or CREEK_STACK_SIZE\n");
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (ext::current_stack != nullptr) {
    const fiber& here = *fiber_of(ext::current_stack);
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    const auto low = reinterpret_cast<std::uintptr_t>(here.stack_low);
    const bool hits_guard = address >= low - guard_bytes && address < low;
    // Without a guard the task may have gone through the stacks below.
    if (hits_guard || (!here.guarded && has_overflowed(here.stack_low))) report(here);
  }
  const struct sigaction& next = previous;
  if ((next.sa_flags & SA_SIGINFO) != 0 && next.sa_sigaction != nullptr) {
    next.sa_sigaction(signal, info, context);
  } else if (next.sa_handler != SIG_DFL && next.sa_handler != SIG_IGN) {
    next.sa_handler(signal);
  } else {
    // Back to the default action: the instruction faults again and ends the process as usual.
    struct sigaction fallback {};
    fallback.sa_handler = SIG_DFL;
    sigaction(signal, &fallback, nullptr);
  }
}

}  // namespace

void end_by_overflow(const fiber& hit) noexcept {
  report(hit);
  std::abort();
}

overflow_guard::overflow_guard(std::byte* stack) : has_stack_(stack != nullptr) {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous);
  });
  if (!has_stack_) return;
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = signal_stack_bytes;
  sigaltstack(&alternate, &before_);
}

overflow_guard::~overflow_guard() {
  if (has_stack_) sigaltstack(&before_, nullptr);
}

}  // namespace creek::host_backend
