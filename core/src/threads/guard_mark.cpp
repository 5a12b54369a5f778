// SPDX-License-Identifier: Apache-2.0
#include "guard_mark.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include <creek/core/threads/stack_switch.hpp>

namespace creek {

namespace {

/// MADV_GUARD_INSTALL, which older headers do not have.
constexpr int guard_install = 102;

/// Whether the kernel has marks for guards. It refuses them, too, if the process locks its memory.
enum class support : std::uint8_t { unknown, present, absent };
std::atomic<support> marks{support::unknown};

/// Returns whether a system call cannot read at `address`. An emulator may accept advice that it
/// does not know.
bool is_inaccessible(const std::byte* address) noexcept {
  return syscall(SYS_faccessat, AT_FDCWD, address, F_OK) != 0 && errno == EFAULT;
}

}  // namespace

bool mark_guard(std::byte* begin) noexcept {
  const support known = marks.load(std::memory_order_relaxed);
  if (known == support::absent) return false;
  const bool accepted = madvise(begin, guard_bytes, guard_install) == 0;
  if (!accepted && errno != EINVAL) return false;  // for this one
  if (known == support::present && accepted) return true;
  const bool works = accepted && is_inaccessible(begin);
  marks.store(works ? support::present : support::absent, std::memory_order_relaxed);
  return works;
}

bool make_guard(std::byte* begin) noexcept {
  return mark_guard(begin) || mprotect(begin, guard_bytes, PROT_NONE) == 0;
}

}  // namespace creek
