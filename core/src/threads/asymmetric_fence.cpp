// SPDX-License-Identifier: Apache-2.0
// The strategies behind heavy_fence(). membarrier is the normal one. Sandboxes (seccomp) and some
// emulators refuse it; then a TLB shootdown interrupts the same CPUs, except on processors that
// broadcast TLB flushes without interrupts (AMD INVLPGB, used since Linux 6.14), where only
// visiting every CPU is left. All are stateless, so fork() at any moment leaves nothing half done.
#include <creek/core/threads/asymmetric_fence.hpp>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#endif

#include <cstdio>
#include <cstdlib>

namespace creek {
namespace {

// Written by the first thread that decides; deciding twice gives the same value and is harmless.
std::atomic<fence_strategy> chosen{fence_strategy::undecided};

}  // namespace

const char* to_string(fence_strategy strategy) noexcept {
  switch (strategy) {
    case fence_strategy::undecided:
      return "undecided";
    case fence_strategy::membarrier:
      return "membarrier";
    case fence_strategy::tlb_shootdown:
      return "tlb_shootdown";
    case fence_strategy::migrate:
      return "migrate";
    case fence_strategy::symmetric:
      return "symmetric";
  }
  return "unknown";
}

#if defined(__x86_64__) && defined(__linux__)

namespace {

bool register_membarrier() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool by_membarrier() noexcept {
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return true;
  // EPERM: this address space is not registered (first use).
  return errno == EPERM && register_membarrier() &&
         syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

// AMD APM vol. 3, CPUID Fn8000_0008 EBX[3]: INVLPGB and TLBSYNC are supported.
bool flushes_without_interrupts() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000008U, &a, &b, &c, &d) != 0 && (b & (1U << 3)) != 0;
}

// Taking a right away from a page that is in this CPU's TLB makes the kernel flush it on every CPU
// that runs the process, by interrupt; an interrupt drains the store buffer. A page of its own per
// call costs a little and needs no lock.
bool by_tlb_shootdown() noexcept {
  const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  *static_cast<volatile char*>(page) = 1;
  const bool flushed = mprotect(page, size, PROT_READ) == 0;
  munmap(page, size);
  full_fence();
  return flushed;
}

// A CPU on which this thread has run has switched context since, which is a full fence for the
// thread that ran there before. CPUs that refuse us (offline, outside the cpuset) run no thread of
// this process unless its threads were spread over different cpusets.
bool by_migration() noexcept {
  const long cpus = sysconf(_SC_NPROCESSORS_CONF);
  cpu_set_t* mask = cpus > 0 ? CPU_ALLOC(cpus) : nullptr;
  cpu_set_t* one = cpus > 0 ? CPU_ALLOC(cpus) : nullptr;
  const std::size_t size = cpus > 0 ? CPU_ALLOC_SIZE(cpus) : 0;
  bool visited = false;
  if (mask != nullptr && one != nullptr && sched_getaffinity(0, size, mask) == 0) {
    for (long cpu = 0; cpu < cpus; ++cpu) {
      CPU_ZERO_S(size, one);
      CPU_SET_S(static_cast<unsigned>(cpu), size, one);
      visited |= sched_setaffinity(0, size, one) == 0;
    }
    sched_setaffinity(0, size, mask);
  }
  if (mask != nullptr) CPU_FREE(mask);
  if (one != nullptr) CPU_FREE(one);
  full_fence();
  return visited;
}

fence_strategy decide() noexcept {
  if (by_membarrier()) return fence_strategy::membarrier;
  if (!flushes_without_interrupts() && by_tlb_shootdown()) return fence_strategy::tlb_shootdown;
  return fence_strategy::migrate;
}

}  // namespace

bool detail::heavy_fence_by(fence_strategy strategy) noexcept {
  const int saved_errno = errno;
  bool done = false;
  switch (strategy) {
    case fence_strategy::membarrier:
      done = by_membarrier();
      break;
    case fence_strategy::tlb_shootdown:
      done = by_tlb_shootdown();
      break;
    case fence_strategy::migrate:
      done = by_migration();
      break;
    case fence_strategy::symmetric:
    case fence_strategy::undecided:
      break;
  }
  errno = saved_errno;
  return done;
}

#else

namespace {
fence_strategy decide() noexcept {
  return fence_strategy::symmetric;
}
}  // namespace

bool detail::heavy_fence_by(fence_strategy strategy) noexcept {
  full_fence();
  return strategy == fence_strategy::symmetric;
}

#endif

fence_strategy prepare_heavy_fence() noexcept {
  fence_strategy strategy = chosen.load(std::memory_order_relaxed);
  if (strategy == fence_strategy::undecided) {
    strategy = decide();
    chosen.store(strategy, std::memory_order_relaxed);
  }
  return strategy;
}

void heavy_fence() noexcept {
  if (detail::heavy_fence_by(prepare_heavy_fence())) return;
  // The chosen way stopped working: a sandbox closed it after the start. Choose again.
  const fence_strategy other = decide();
  if (detail::heavy_fence_by(other)) {
    chosen.store(other, std::memory_order_relaxed);
    return;
  }
  std::fputs("creek: memory fence: membarrier, mprotect and sched_setaffinity are all refused\n",
             stderr);
  std::abort();
}

}  // namespace creek
