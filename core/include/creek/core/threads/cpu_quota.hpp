// SPDX-License-Identifier: Apache-2.0
// The processor time that the control groups of this process pay for.
#pragma once

#include <filesystem>
#include <optional>

#include <creek/core/language.hpp>

namespace creek {

/// The tightest limit of CPU time over the process's control group and its ancestors.
struct cpu_quota {
  double cpus = 0;             ///< quota divided by period, > 0
  std::filesystem::path from;  ///< the folder of the group that sets it
  int version = 2;             ///< cgroup v1 or v2

  /// Returns the quota in whole workers, rounded up: 1.5 CPUs keep two busy 3/4 of the time.
  [[nodiscard]] unsigned workers() const noexcept;
};

/// Reads the quota of this process as it is now (it changes while a process runs); none if nothing
/// limits it. `root` replaces "/" in all paths, for tests on recorded trees. Never fails: a missing
/// or malformed file does not limit. Takes some 50 us; any thread.
[[nodiscard]] std::optional<cpu_quota> read_cpu_quota(const std::filesystem::path& root = "/");

}  // namespace creek
