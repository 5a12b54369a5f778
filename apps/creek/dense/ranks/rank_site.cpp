// SPDX-License-Identifier: Apache-2.0
#include "rank_site.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

namespace creek::tool::dense {
namespace {

template <std::size_t N>
void copy_text(char (&to)[N], std::string_view text) {
  const std::size_t length = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

bool same_machine(const rank_site& a, const rank_site& b) {
  return std::string_view(a.machine) == b.machine;
}

bool share_processors(const rank_site& a, const rank_site& b) {
  cpu_set_t both{};
  CPU_AND(&both, &a.processors, &b.processors);
  return same_machine(a, b) && CPU_COUNT(&both) != 0;
}

}  // namespace

rank_site rank_site::here() {
  rank_site made{};
  (void)gethostname(made.host, sizeof made.host - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  copy_text(made.machine, boot.empty() ? std::string_view(made.host) : boot);
  CPU_ZERO(&made.processors);
  if (sched_getaffinity(0, sizeof made.processors, &made.processors) != 0) {
    // There are more than it has room for: perhaps all ranks may use them.
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &made.processors);
  }
  return made;
}

int first_rank_of_machine(const std::vector<rank_site>& sites, int rank) {
  const rank_site& own = sites[static_cast<std::size_t>(rank)];
  const auto first = std::find_if(sites.begin(), sites.end(),
                                  [&](const rank_site& each) { return same_machine(own, each); });
  return static_cast<int>(first - sites.begin());
}

int ranks_of_machine(const std::vector<rank_site>& sites, int rank) {
  const rank_site& own = sites[static_cast<std::size_t>(rank)];
  return static_cast<int>(std::count_if(
      sites.begin(), sites.end(), [&](const rank_site& each) { return same_machine(own, each); }));
}

bool shares_processors(const std::vector<rank_site>& sites, int rank) {
  const rank_site& own = sites[static_cast<std::size_t>(rank)];
  return std::count_if(sites.begin(), sites.end(),
                       [&](const rank_site& each) { return share_processors(own, each); }) > 1;
}

}  // namespace creek::tool::dense
