// SPDX-License-Identifier: Apache-2.0
// The three limits. Quotas: cpu.max (v2), cpu.cfs_quota_us and cpu.cfs_period_us (v1), of every
// group from the process's own up to the mount point, since each ancestor limits as well.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <thread>

#include <creek/core/error.hpp>
#include <creek/core/threads/futex.hpp>
#include <creek/host/affinity.hpp>
#include <creek/host/cpu_limit.hpp>

#include "cgroup.hpp"
#include "recent_limit.hpp"

namespace creek::host_backend {
namespace {

namespace fs = std::filesystem;

// Returns `path` as seen below `root`.
fs::path below(const fs::path& root, const fs::path& path) {
  return root / path.relative_path();
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto end = text.data() + text.size();
  const auto [stop, why] = std::from_chars(text.data(), end, value);
  if (why != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::int64_t> number_in_file(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return std::nullopt;
  return number_in(word);
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
  return ratio(number_in(quota), number_in(period));
}

// Returns how many numbers a list such as "0-3,8,10-11" names; nothing if it is no such list.
std::optional<unsigned> count_in_list(std::string_view list) {
  std::int64_t count = 0;
  while (!list.empty()) {
    const auto comma = list.find(',');
    const auto item = list.substr(0, comma);
    const auto dash = item.find('-');
    const auto first = number_in(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_in(item.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
    count += *last - *first + 1;
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  constexpr std::int64_t most = 1 << 20;
  if (count < 1 || count > most) return std::nullopt;
  return static_cast<unsigned>(count);
}

unsigned hardware_units(const fs::path& root) {
  std::ifstream in(below(root, "/sys/devices/system/cpu/online"));
  std::string list;
  in >> list;
  return count_in_list(list).value_or(std::max(1U, std::thread::hardware_concurrency()));
}

unsigned affinity_units(unsigned otherwise) {
  try {
    return static_cast<unsigned>(affinity_mask().size());
  } catch (const error&) {
    return otherwise;  // a sandbox without sched_getaffinity
  }
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

cpu_limit read_cpu_limit(const fs::path& root, std::optional<unsigned> affinity) {
  cpu_limit limit;
  limit.hardware = hardware_units(root);
  limit.affinity = std::max(1U, affinity ? *affinity : affinity_units(limit.hardware));
  limit.quota = read_cpu_quota(root);
  limit.workers = limit.hardware;
  if (limit.affinity < limit.workers) {
    limit.workers = limit.affinity;
    limit.decided_by = limit_kind::affinity;
  }
  if (limit.quota && limit.quota->workers() < limit.workers) {
    limit.workers = limit.quota->workers();
    limit.decided_by = limit_kind::quota;
  }
  return limit;
}

unsigned recent_cpu_limit() {
  static constinit recent_limit limit;
  static constexpr unsigned all = 1 << 20;  // an affinity mask that does not limit
  const unsigned machine = limit.get(deadline_clock::now().time_since_epoch(),
                                     [] { return read_cpu_limit("/", all).workers; });
  return std::min(machine, std::max(1U, affinity_units(machine)));
}

bool oversubscribed(unsigned workers, const cpu_limit& limit) noexcept {
  return workers > limit.workers;
}

const char* to_string(limit_kind kind) noexcept {
  switch (kind) {
    case limit_kind::hardware:
      return "hardware";
    case limit_kind::affinity:
      return "affinity";
    case limit_kind::quota:
      return "quota";
  }
  return "unknown";
}

}  // namespace creek::host_backend
