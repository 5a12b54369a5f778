// SPDX-License-Identifier: Apache-2.0
#include "guard_mark.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#include <creek/core/threads/stack_switch.hpp>

namespace creek {

namespace {

// MADV_GUARD_INSTALL and MADV_POPULATE_READ, which older headers do not have.
constexpr int guard_install = 102;
constexpr int populate_read = 22;

/// Whether the kernel has marks for guards. It refuses them, too, if the process locks its memory.
enum class support : std::uint8_t { unknown, present, absent };
std::atomic<support> marks{support::unknown};

/// Returns whether the kernel finds the `guard_bytes` at `begin` inaccessible. An emulator may
/// accept advice that it does not know; Valgrind itself reads what other system calls are given.
bool is_inaccessible(std::byte* begin) noexcept {
  return madvise(begin, guard_bytes, populate_read) != 0 && errno == EFAULT;
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

void unmap_with_guard(std::byte* low, std::size_t size) noexcept {
  if (munmap(low - guard_bytes, guard_bytes + size) != 0) (void)madvise(low, size, MADV_DONTNEED);
}

bool make_guard(std::byte* begin) noexcept {
  return mark_guard(begin) || mprotect(begin, guard_bytes, PROT_NONE) == 0;
}

}  // namespace creek
