// SPDX-License-Identifier: Apache-2.0
// Guards of stacks: a kernel that behaves as one without guard marks in page tables (Linux before
// 6.13), and processes that have hit a guard.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>

#include "process_facts.hpp"

namespace creek::support {

inline constexpr unsigned guard_install = 102;  ///< MADV_GUARD_INSTALL

/// Returns whether the kernel has guard marks: a page so marked cannot be read by it any more.
inline bool has_guard_marks() {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const probe =
      mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return false;
  const bool marked = madvise(probe, page, guard_install) == 0 &&
                      syscall(SYS_access, probe, F_OK) != 0 && errno == EFAULT;
  munmap(probe, page);
  return marked;
}

/// Has madvise(MADV_GUARD_INSTALL) fail in this thread and those that it starts, for ever: for
/// children of death tests. Returns false if the system does not allow that.
inline bool refuse_guard_marks() {
  constexpr auto argument = [](int index) {  // its low half
    return static_cast<unsigned>(offsetof(seccomp_data, args)) + 8U * static_cast<unsigned>(index);
  };
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument(2)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, guard_install, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof steps / sizeof *steps, steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Returns whether a fault ended a process; a sanitizer's handler, which creek's calls, exits
/// instead.
inline bool died_of_fault(int status) {
  if (under_sanitizer) return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

}  // namespace creek::support
