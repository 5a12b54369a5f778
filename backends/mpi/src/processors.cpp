// SPDX-License-Identifier: Apache-2.0
#include <creek/mpi/processors.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <creek/core/threads/cpu_quota.hpp>

namespace creek::mpi_backend {
namespace {

bool same_group(const allowed_processors& a, const allowed_processors& b) noexcept {
  return a.quota != 0 && b.quota != 0 && a.group_device == b.group_device &&
         a.group_number == b.group_number;
}

double share_of_mask(std::span<const allowed_processors> here, const cpu_set_t& own) noexcept {
  double share = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &own)) continue;
    share += 1.0 / static_cast<double>(std::ranges::count_if(
                       here, [&](const auto& each) { return CPU_ISSET(cpu, &each.mask); }));
  }
  constexpr double millionths = 1e6;  // three thirds are one
  return std::round(share * millionths) / millionths;
}

}  // namespace

allowed_processors allowed_processors::here() {
  allowed_processors made{};
  CPU_ZERO(&made.mask);
  (void)sched_getaffinity(0, sizeof made.mask, &made.mask);
  const std::optional<cpu_quota> quota = read_cpu_quota();
  struct stat group {};
  if (!quota || stat(quota->from.c_str(), &group) != 0) return made;
  made.quota = quota->cpus;
  made.group_device = group.st_dev;
  made.group_number = group.st_ino;
  return made;
}

double allowed_processors::alone() const noexcept {
  return share_of_processors({this, 1}, 0);
}

double share_of_processors(std::span<const allowed_processors> here, int rank) noexcept {
  const allowed_processors& own = here[static_cast<std::size_t>(rank)];
  const double by_mask = share_of_mask(here, own.mask);
  if (own.quota == 0) return by_mask;
  const auto together =
      std::ranges::count_if(here, [&](const auto& each) { return same_group(own, each); });
  return std::min(by_mask, own.quota / static_cast<double>(together));
}

}  // namespace creek::mpi_backend
