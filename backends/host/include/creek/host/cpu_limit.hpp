// SPDX-License-Identifier: Apache-2.0
// Finds how many workers make sense here: the least of the processors that the hardware has, those
// that the affinity mask allows, and those that the control groups' CPU quota pays for.
#pragma once

#include <filesystem>
#include <optional>

#include <creek/core/threads/cpu_quota.hpp>

namespace creek::host_backend {

enum class limit_kind { hardware, affinity, quota };

/// The three limits and which of them is least (on a tie the first in the order of limit_kind).
struct cpu_limit {
  unsigned hardware = 1;           ///< processing units online
  unsigned affinity = 1;           ///< those allowed by the affinity mask, and so by the cpuset
  std::optional<cpu_quota> quota;  ///< none: unlimited, or no control groups
  unsigned workers = 1;            ///< the default number of workers; at least 1
  limit_kind decided_by = limit_kind::hardware;
};

/// Reads the limits of this process as they are now (both change while a process runs). `root`
/// replaces "/" in all paths, for tests on recorded trees; `affinity` replaces the kernel's mask.
/// Never fails: a missing or malformed file does not limit. Takes some 50 us; any thread.
cpu_limit read_cpu_limit(const std::filesystem::path& root = "/",
                         std::optional<unsigned> affinity = std::nullopt);

/// Returns read_cpu_limit().workers as runtimes use it: the affinity mask of the calling thread is
/// read each time, while the hardware and the quota may be those of 100 ms ago. About 1 us; any
/// thread.
unsigned recent_cpu_limit();

/// Returns true if this many workers cannot all run at once: then spinning steals time from the
/// worker that is waited for, and waits should yield early.
[[nodiscard]] bool oversubscribed(unsigned workers, const cpu_limit& limit) noexcept;

/// Returns the kind's name: "hardware", "affinity" or "quota".
const char* to_string(limit_kind kind) noexcept;

}  // namespace creek::host_backend
