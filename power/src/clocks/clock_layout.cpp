// SPDX-License-Identifier: Apache-2.0
#include "clock_layout.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace creek::power {

namespace {

bool holds(const cpufreq_policy& policy, int cpu) {
  return std::find(policy.cpus.begin(), policy.cpus.end(), cpu) != policy.cpus.end();
}

std::string why_no_policy(const std::vector<cpufreq_policy>& all, const std::string& folder,
                          int cpu) {
  for (const cpufreq_policy& each : all) {
    if (each.cpus.empty()) return each.problem;
  }
  return "no policy in " + folder + " has CPU " + std::to_string(cpu) +
         "; use CPUs that are online";
}

/// Returns the policies of the CPUs; sets `why_not` if a CPU has none.
std::vector<cpufreq_policy> find_policies(const std::string& root, const std::vector<int>& cpus,
                                          std::string& why_not) {
  const std::vector<cpufreq_policy> all = read_cpufreq(root);
  const std::string folder = root + "/devices/system/cpu/cpufreq";
  if (all.empty()) {
    why_not = "no policies in " + folder +
              ": the system does not offer its clocks, as in most virtual machines; on hardware, "
              "load a cpufreq driver";
    return {};
  }
  std::vector<cpufreq_policy> found;
  for (const int cpu : cpus) {
    const auto has_it = [cpu](const cpufreq_policy& policy) { return holds(policy, cpu); };
    if (std::any_of(found.begin(), found.end(), has_it)) continue;
    const auto policy = std::find_if(all.begin(), all.end(), has_it);
    if (policy == all.end()) {
      why_not = why_no_policy(all, folder, cpu);
      return {};
    }
    found.push_back(*policy);
  }
  return found;
}

std::vector<units::hertz> in_hertz(std::vector<std::uint64_t> clocks) {
  std::sort(clocks.begin(), clocks.end());
  clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
  std::vector<units::hertz> made;
  for (const std::uint64_t each : clocks) {
    made.emplace_back(1e3 * static_cast<double>(each));
  }
  return made;
}

/// Returns the clocks of all tables; if a policy has no table, evenly spaced clocks from the lowest
/// to the highest, in between whole multiples of 100 MHz, like the steps of processors.
std::vector<units::hertz> choose_clocks(const std::vector<cpufreq_policy>& policies,
                                        unsigned steps) {
  std::vector<std::uint64_t> listed;
  std::uint64_t lowest = policies.front().lowest, highest = 0;
  bool all_listed = true;
  for (const cpufreq_policy& each : policies) {
    listed.insert(listed.end(), each.clocks.begin(), each.clocks.end());
    all_listed = all_listed && !each.clocks.empty();
    lowest = std::min(lowest, each.lowest);
    highest = std::max(highest, each.highest);
  }
  if (all_listed) return in_hertz(std::move(listed));
  std::vector<std::uint64_t> even{lowest, highest};
  constexpr double whole = 100'000;
  for (unsigned i = 1; i + 1 < steps; ++i) {
    const double exact =
        static_cast<double>(lowest) + static_cast<double>(highest - lowest) * i / (steps - 1);
    const auto rounded = static_cast<std::uint64_t>(std::round(exact / whole) * whole);
    if (rounded > lowest && rounded < highest) even.push_back(rounded);
  }
  return in_hertz(std::move(even));
}

/// Policy with the CPUs that run at its clock, regardless of their own policies.
struct coupled_policy {
  const cpufreq_policy* policy;
  std::vector<int> cpus;  // ascending
};
using policy_group = std::vector<coupled_policy>;

bool meet(const coupled_policy& a, const coupled_policy& b) {
  return std::any_of(a.cpus.begin(), a.cpus.end(), [&](int cpu) {
    return std::binary_search(b.cpus.begin(), b.cpus.end(), cpu);
  });
}

/// Returns groups of policies: a policy that shares a clock with several groups joins them.
std::vector<policy_group> group_by_clock(const std::string& root,
                                         const std::vector<cpufreq_policy>& policies,
                                         bool all_in_one) {
  std::vector<policy_group> groups;
  for (const cpufreq_policy& each : policies) {
    const coupled_policy joining{&each, share_clock_with(root, each)};
    const auto joins = [&](const policy_group& group) {
      return all_in_one || std::any_of(group.begin(), group.end(),
                                       [&](const auto& member) { return meet(member, joining); });
    };
    const auto first = std::find_if(groups.begin(), groups.end(), joins);
    if (first == groups.end()) {
      groups.push_back({joining});
      continue;
    }
    for (auto more = first + 1; more != groups.end();) {
      if (!joins(*more)) {
        ++more;
        continue;
      }
      first->insert(first->end(), more->begin(), more->end());
      more = groups.erase(more);
    }
    first->push_back(joining);
  }
  return groups;
}

}  // namespace

std::vector<int> usable_cpus() {
  for (int most = 1024; most <= 1 << 16; most *= 4) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(most));
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    std::vector<int> cpus;
    if (set != nullptr && sched_getaffinity(0, bytes, set) == 0) {
      for (int cpu = 0; cpu < most; ++cpu) {
        if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
      }
    }
    CPU_FREE(set);
    if (!cpus.empty()) return cpus;
  }
  return {0};
}

clock_layout lay_out_clocks(const std::string& root, const std::vector<int>& cpus, bool pinned,
                            unsigned steps) {
  clock_layout layout;
  const std::vector<cpufreq_policy> policies = find_policies(root, cpus, layout.why_not);
  for (const cpufreq_policy& each : policies) {
    if (layout.why_not.empty()) layout.why_not = each.problem;
  }
  if (!layout.why_not.empty()) return layout;
  layout.clocks = choose_clocks(policies, steps);
  if (layout.clocks.size() < 2) {
    layout.why_not = policies.front().folder + " has only one clock, so there is no choice";
    return layout;
  }
  for (const auto& group : group_by_clock(root, policies, !pinned)) {
    auto& made = layout.groups.emplace_back();
    for (const coupled_policy& member : group) made.push_back(*member.policy);
  }
  return layout;
}

}  // namespace creek::power
