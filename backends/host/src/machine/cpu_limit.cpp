// SPDX-License-Identifier: Apache-2.0
// The three limits: of the hardware, of the affinity mask, and creek::read_cpu_quota().
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include <creek/core/error.hpp>
#include <creek/core/number_in.hpp>
#include <creek/core/threads/futex.hpp>
#include <creek/host/affinity.hpp>
#include <creek/host/cpu_limit.hpp>

#include "recent_limit.hpp"

namespace creek::host_backend {
namespace {

namespace fs = std::filesystem;

// Returns how many numbers a list such as "0-3,8,10-11" names; nothing if it is no such list.
std::optional<unsigned> count_in_list(std::string_view list) {
  std::uint64_t count = 0;
  while (!list.empty()) {
    const auto comma = list.find(',');
    const auto item = list.substr(0, comma);
    const auto dash = item.find('-');
    const auto first = number_in<unsigned>(item.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : number_in<unsigned>(item.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    count += std::uint64_t{*last} - *first + 1;
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  }
  constexpr std::uint64_t most = 1 << 20;
  if (count < 1 || count > most) return std::nullopt;
  return static_cast<unsigned>(count);
}

unsigned hardware_units(const fs::path& root) {
  std::ifstream in(root / "sys/devices/system/cpu/online");
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
