// SPDX-License-Identifier: Apache-2.0
// Quotas: cpu.max (v2), cpu.cfs_quota_us and cpu.cfs_period_us (v1), of every group from the
// process's own up to the mount point, since each ancestor limits as well.
#include <creek/core/threads/cpu_quota.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>

#include <creek/core/number_in.hpp>

#include "cgroup.hpp"

namespace creek {
namespace {

namespace fs = std::filesystem;

// Returns `path` as seen below `root`.
fs::path below(const fs::path& root, const fs::path& path) {
  return root / path.relative_path();
}

std::optional<std::int64_t> number_in_file(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return std::nullopt;
  return number_in<std::int64_t>(word);
}

// Returns the CPUs of a quota and a period in microseconds; "max", -1 and nonsense do not limit.
std::optional<double> ratio(std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> limit_of(const fs::path& folder, int version) {
  if (version == 1) {
    return ratio(number_in_file(folder / "cpu.cfs_quota_us"),
                 number_in_file(folder / "cpu.cfs_period_us"));
  }
  std::ifstream in(folder / "cpu.max");
  std::string quota, period;
  if (!(in >> quota >> period)) return std::nullopt;
  return ratio(number_in<std::int64_t>(quota), number_in<std::int64_t>(period));
}

}  // namespace

unsigned cpu_quota::workers() const noexcept {
  constexpr double most = 1 << 20;  // a quota beyond any machine must still fit the type
  return static_cast<unsigned>(std::max(1.0, std::ceil(std::min(cpus, most))));
}

std::optional<cpu_quota> read_cpu_quota(const fs::path& root) {
  std::ifstream group_file(below(root, "/proc/self/cgroup"));
  std::ifstream mount_file(below(root, "/proc/self/mountinfo"));
  const auto groups = cgroup::parse_memberships(group_file);
  const auto mounts = cgroup::parse_mounts(mount_file);
  std::optional<cpu_quota> tightest;
  for (const auto& group : groups) {
    for (const auto& mount : mounts) {
      if (group.version != mount.version) continue;
      for (const auto& folder : cgroup::folders_of(group, mount)) {
        const auto cpus = limit_of(below(root, folder), group.version);
        if (cpus && (!tightest || *cpus < tightest->cpus)) {
          tightest = cpu_quota{*cpus, folder, group.version};
        }
      }
    }
  }
  return tightest;
}

}  // namespace creek
