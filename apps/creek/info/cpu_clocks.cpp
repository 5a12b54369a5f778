// SPDX-License-Identifier: Apache-2.0
#include "info/cpu_clocks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace creek::tool {

namespace {

using power::linux_clock_policy;

/// Returns a list such as "0-3,8".
std::string cpu_list(std::vector<int> cpus) {
  std::sort(cpus.begin(), cpus.end());
  std::vector<std::string> ranges;
  for (std::size_t first = 0; first < cpus.size();) {
    std::size_t last = first;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    ranges.push_back(first == last ? fmt::format("{}", cpus[first])
                                   : fmt::format("{}-{}", cpus[first], cpus[last]));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

std::string range_text(const linux_clock_policy& of) {
  const auto mhz = [](units::hertz clock) { return clock.value / 1e6; };
  std::string text = fmt::format("{:.5g} to {:.5g} MHz", mhz(of.lowest), mhz(of.highest));
  if (of.table != 0) text += fmt::format(" in {} steps", of.table);
  return text;
}

/// Returns the properties that policies must share to be reported on one line.
std::string kind_text(const linux_clock_policy& of) {
  return fmt::format("{}, governor {}, {}, set by {}", of.driver.empty() ? "no driver" : of.driver,
                     of.governor.empty() ? "none" : of.governor, range_text(of),
                     of.userspace ? "speed" : "limits");
}

struct kind {
  std::string text;
  std::vector<int> cpus;
  std::size_t policies = 0;
};

std::vector<kind> kinds_of(const std::vector<linux_clock_policy>& policies) {
  std::vector<kind> kinds;
  for (const linux_clock_policy& each : policies) {
    const std::string text = kind_text(each);
    auto at = std::find_if(kinds.begin(), kinds.end(),
                           [&](const kind& known) { return known.text == text; });
    if (at == kinds.end()) at = kinds.insert(kinds.end(), {text, {}, 0});
    at->cpus.insert(at->cpus.end(), each.cpus.begin(), each.cpus.end());
    ++at->policies;
  }
  return kinds;
}

}  // namespace

cpu_clocks look_at_cpu_clocks() {
  return {.policies = power::linux_clock_policies(), .why_not = power::linux_clocks()->why_not()};
}

json_value to_json(const cpu_clocks& found) {
  using json = json_value;
  json policies = json::array();
  for (const linux_clock_policy& each : found.policies) {
    policies.push_back({{"cpus", each.cpus},
                        {"driver", each.driver},
                        {"governor", each.governor},
                        {"lowest_hz", each.lowest.value},
                        {"highest_hz", each.highest.value},
                        {"listed_clocks", each.table},
                        {"set_by", each.userspace ? "speed" : "limits"},
                        {"why_not", each.why_not.empty() ? json(nullptr) : json(each.why_not)}});
  }
  return {{"can_be_set", found.why_not.empty()},
          {"why_not", found.why_not.empty() ? json(nullptr) : json(found.why_not)},
          {"policies", policies}};
}

std::string to_text(const cpu_clocks& found, const std::string& indent) {
  std::vector<std::string> lines;
  for (const kind& each : kinds_of(found.policies)) {
    lines.push_back(fmt::format("{}: CPUs {} in {} {}", each.text, cpu_list(each.cpus),
                                each.policies, each.policies == 1 ? "policy" : "policies"));
  }
  lines.push_back(found.why_not.empty() ? "can be set by this user"
                                        : "cannot be set: " + found.why_not);
  return fmt::format("{}", fmt::join(lines, "\n" + indent));
}

}  // namespace creek::tool
