// SPDX-License-Identifier: Apache-2.0
// The SIGBUS handler of mapped files. A fault is handled in the thread that caused it, between two
// of its instructions, so the handler may use only lock-free atomics and system calls:
//
// - The list of ranges only grows and its nodes are never freed, so walking it needs no lock. A
//   node is published with its range by a release store of `end`; the handler's acquire load of
//   `end` pairs with it.
//
// - A thread that faults in a range is reading a mapping that its owner keeps alive, so the range
//   is in the list: no fault is missed, and no range can end while the handler examines it.
//
// - The handler maps an anonymous zero page over the missing one. The instruction is then repeated
//   and reads zeros. It does not unwind, since frames and fibers are not prepared for it. The
//   handler sets `lost` before, so a thread that has read a made-up byte finds it set afterwards.
//
// - Other faults go to the previously installed handler, or to the default action: the handler
//   restores it and returns, and the instruction faults again.
#include "bus_guard.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <creek/core/error.hpp>
#include <mutex>

namespace creek::detail {
namespace {

std::atomic<guarded_range*> ranges{nullptr};
std::mutex registry;  // guards the rest, which the handler only reads, and list changes
std::size_t active = 0;
bool installed = false;
struct sigaction previous;
std::uintptr_t page_bytes = 0;

guarded_range* find(std::uintptr_t address) noexcept {
  for (guarded_range* r = ranges.load(std::memory_order_acquire); r != nullptr; r = r->next) {
    if (address < r->end.load(std::memory_order_acquire) &&
        address >= r->begin.load(std::memory_order_relaxed)) {
      return r;
    }
  }
  return nullptr;
}

bool cover(void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address) & ~(page_bytes - 1);
  auto* begin = reinterpret_cast<void*>(at);
  // The bare system call: a replacement of mmap() in this process (a sanitizer, a profiler) may do
  // more than a signal handler is allowed to.
  return syscall(SYS_mmap, begin, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0) == static_cast<long>(at);
}

void pass_on(int signal, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    sigaction(SIGBUS, &previous, nullptr);
    // A fault occurs again by itself; a signal sent by kill() has to be sent again.
    if (info->si_code <= 0) raise(signal);
  }
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  guarded_range* range = nullptr;
  if (info->si_code > 0) range = find(reinterpret_cast<std::uintptr_t>(info->si_addr));
  bool covered = false;
  if (range != nullptr) {
    range->lost.store(true, std::memory_order_release);
    covered = cover(info->si_addr);
  }
  if (!covered) pass_on(signal, info, context);
  errno = saved;
}

void install() {
  page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction ours {};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&ours.sa_mask);
  if (sigaction(SIGBUS, &ours, &previous) != 0) throw error(errno, "sigaction SIGBUS");
}

/// Restores the old handler, unless another one was installed over ours: then ours stays below.
bool uninstall() noexcept {
  struct sigaction current {};
  sigaction(SIGBUS, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) == 0 || current.sa_sigaction != on_bus_error) return false;
  sigaction(SIGBUS, &previous, nullptr);
  return true;
}

guarded_range* free_node() {
  for (guarded_range* r = ranges.load(std::memory_order_relaxed); r != nullptr; r = r->next) {
    if (r->end.load(std::memory_order_relaxed) == 0) return r;
  }
  auto* node = new guarded_range;
  node->next = ranges.load(std::memory_order_relaxed);
  ranges.store(node, std::memory_order_release);
  return node;
}

}  // namespace

guarded_range* guard(const void* begin, std::size_t bytes) {
  const std::lock_guard lock(registry);
  if (!installed) {
    install();
    installed = true;
  }
  guarded_range* node = free_node();
  node->lost.store(false, std::memory_order_relaxed);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  node->begin.store(address, std::memory_order_relaxed);
  node->end.store(address + bytes, std::memory_order_release);
  ++active;
  return node;
}

void unguard(guarded_range* range) noexcept {
  const std::lock_guard lock(registry);
  range->end.store(0, std::memory_order_release);
  if (--active == 0 && installed && uninstall()) installed = false;
}

}  // namespace creek::detail
