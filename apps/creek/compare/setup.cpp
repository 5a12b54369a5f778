// SPDX-License-Identifier: Apache-2.0
#include "setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <creek/core/error.hpp>
#include <creek/power/policies.hpp>

#include "options/distinct.hpp"

namespace creek::tool::compare {
namespace {

void require_between(const char* option, long long value, long long least, long long most) {
  if (value >= least && value <= most) return;
  throw usage_error(
      fmt::format("{} must be between {} and {}, got {}", option, least, most, value));
}

void require_policies(const setup& given) {
  const auto known = power::policy_names();
  require_distinct("--policy", given.policies);
  for (const std::string& each : given.policies) {
    if (std::ranges::find(known, each) == known.end()) {
      throw usage_error(
          fmt::format("--policy {}: unknown policy; valid: {}", each, fmt::join(known, ", ")));
    }
    if (each == "power_cap" && given.limits.watts <= 0) {
      throw usage_error("--policy power_cap: --watts W is required: the maximum power");
    }
    if (each == "slack_reduction" && !given.is_dense()) {
      throw usage_error(fmt::format(
          "--policy slack_reduction: needs a graph of tasks, as lu, chol and qr have; {} has none",
          given.name));
    }
  }
}

void require_backend(const setup& given) {
  if (given.backend == "host") return;
  if (given.backend != "scc") {
    throw usage_error(
        fmt::format("--backend {}: policies are compared on host and scc", given.backend));
  }
  if (given.memory == chip_memory::messages && given.layout != dense::form::column) {
    throw usage_error("--memory messages: ranks have whole columns; leave --form blocks off");
  }
  const bool plans = std::ranges::find(given.policies, "slack_reduction") != given.policies.end();
  if (given.memory == chip_memory::messages && plans) {
    throw usage_error(
        "--policy slack_reduction: needs a graph of tasks; with --memory messages there is none");
  }
  const bool caps = std::ranges::find(given.policies, "power_cap") != given.policies.end();
  if (given.memory == chip_memory::messages && caps) {
    throw usage_error(
        "--policy power_cap: also reduces the number of workers; with --memory messages all cores "
        "take part");
  }
  if (!given.meter.empty()) {
    throw usage_error(
        "--meter: needs --backend host; the energy of the simulated chip is simulated");
  }
  if (!given.is_dense()) {
    throw usage_error(fmt::format("--backend scc: {} can be measured on host only", given.name));
  }
}

}  // namespace

void complete(setup& given) {
  for (std::string& policy : given.policies) policy = spelt_policy(std::move(policy));
  // The default block size suits host threads; it leaves most of 48 cores without a task.
  if (given.backend == "scc" && given.is_dense() && !given.block) given.block = 32;
  if (!given.n.empty()) return;
  if (given.kind == problem_kind::fib) {
    given.n = {30};
  } else if (given.kind == problem_kind::sort) {
    given.n = {10'000'000};
  } else {
    given.n = {given.backend == "scc" ? 1024 : 2000};
  }
}

void require_sense(const setup& given) {
  require_backend(given);
  require_policies(given);
  constexpr long long most = 1'000'000;
  for (const long long n : given.n) {
    const long long largest = given.kind == problem_kind::fib    ? 90
                              : given.kind == problem_kind::sort ? 4'000'000'000
                                                                 : most;
    require_between("-n", n, 1, largest);
  }
  if (!given.is_dense() && given.block) {
    throw usage_error(fmt::format("--block: needs lu, chol or qr; {} has no blocks", given.name));
  }
  if (!given.is_dense() && given.layout != dense::form::column) {
    throw usage_error(fmt::format("--form: needs lu, chol or qr; {} has no forms", given.name));
  }
}

std::string file_of_policy(const std::string& file, std::string_view policy) {
  const auto folder = file.find_last_of('/');
  const auto dot = file.find_last_of('.');
  const bool has_ending =
      dot != std::string::npos && dot != 0 && (folder == std::string::npos || dot > folder + 1);
  const std::size_t place = has_ending ? dot : file.size();
  return fmt::format("{}.{}{}", file.substr(0, place), policy, file.substr(place));
}

}  // namespace creek::tool::compare
