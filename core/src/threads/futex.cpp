// SPDX-License-Identifier: Apache-2.0
// The futex system calls behind futex.hpp. Waits use FUTEX_WAIT_BITSET because only that form takes
// an absolute deadline, which stays right when a signal interrupts the wait and it starts again.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include <creek/core/threads/futex.hpp>

namespace creek {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
                  std::atomic<std::uint32_t>::is_always_lock_free,
              "the kernel looks at the bare word");

futex_status wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                  const timespec* deadline, std::uint32_t bits) noexcept {
  const int saved_errno = errno;
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                              deadline, nullptr, bits);
  const int why = result == 0 ? 0 : errno;
  errno = saved_errno;  // callers sit inside user code's waits, which must not change errno
  if (why == EAGAIN) return futex_status::changed;
  if (why == ETIMEDOUT) return futex_status::timed_out;
  return futex_status::woken;
}

}  // namespace

futex_status futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                        std::uint32_t bits) noexcept {
  return wait(word, expected, nullptr, bits);
}

futex_status futex_wait_until(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                              deadline_clock::time_point deadline, std::uint32_t bits) noexcept {
  using namespace std::chrono;
  // The kernel refuses negative times; a deadline in the far past is simply over.
  const auto since_boot =
      std::max<nanoseconds>(duration_cast<nanoseconds>(deadline.time_since_epoch()), 0ns);
  const auto whole = duration_cast<seconds>(since_boot);
  timespec at{};
  at.tv_sec = static_cast<time_t>(whole.count());
  at.tv_nsec = static_cast<long>((since_boot - whole).count());
  return wait(word, expected, &at, bits);
}

unsigned futex_wake(const std::atomic<std::uint32_t>& word, unsigned count,
                    std::uint32_t bits) noexcept {
  const int saved_errno = errno;
  const int limit = static_cast<int>(std::min<unsigned>(count, INT_MAX));
  const long woken = syscall(SYS_futex, &word, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, limit,
                             nullptr, nullptr, bits);
  errno = saved_errno;  // EFAULT when the word is gone: then no thread sleeps on it
  return woken > 0 ? static_cast<unsigned>(woken) : 0;
}

unsigned futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  return futex_wake(word, INT_MAX);
}

}  // namespace creek
