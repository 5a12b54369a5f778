// SPDX-License-Identifier: Apache-2.0
// `creek info`: facts about this machine and how creek uses it, for people and (--json) programs. A
// report of a problem should include its output.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <creek/core/measuring/clock.hpp>
#include <creek/core/threads/asymmetric_fence.hpp>
#include <creek/core/topology.hpp>
#include <creek/core/version.hpp>
#include <creek/host/cpu_limit.hpp>
#include <creek/host/topology.hpp>
#include <creek/power/meter.hpp>
#include <creek/tasking/runtime.hpp>

#include "command_line/command.hpp"
#include "commands.hpp"
#include "info/cpu_clocks.hpp"
#include "info/linalg_facts.hpp"
#include "json/json_value.hpp"

namespace creek::tool {
namespace {

using json = json_value;

// Raised when a member of the JSON changes its meaning or is removed; new members do not raise it.
constexpr int info_schema = 1;

struct findings {
  topology machine;
  host_backend::cpu_limit limit;
  unsigned workers;
  std::vector<std::string> backends;
  std::vector<std::string> vector_targets;  // best first
  linalg_facts linalg;
  fence_strategy fence;
  double ticks_per_ns;
  cpu_clocks clocks;
  power::meter_options metering;
  std::vector<power::meter_state> meters;
};

std::vector<std::string> vector_targets() {
  std::vector<std::string> names;
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

findings look_around() {
  const auto limit = host_backend::read_cpu_limit();
  const unsigned asked = scheduler_options::from_environment().workers;
  const auto metering = power::meter_options::from_environment();
  return {.machine = host_backend::discover_topology(),
          .limit = limit,
          .workers = asked != 0 ? asked : limit.workers,
          .backends = backends(),
          .vector_targets = vector_targets(),
          .linalg = look_at_linalg(),
          .fence = prepare_heavy_fence(),
          .ticks_per_ns = 1.0 / tick_clock::scale().ns_per_tick,
          .clocks = look_at_cpu_clocks(),
          .metering = metering,
          .meters = power::look_for_meters(metering)};
}

constexpr const char* compiler() {
#ifdef __clang__
  return __VERSION__;
#else
  return "GCC " __VERSION__;
#endif
}

constexpr const char* build_kind() {
#ifdef NDEBUG
  return "optimised";
#else
  return "with assertions";
#endif
}

// --- JSON
// -----------------------------------------------------------------------------------------

json limits_json(const findings& found) {
  const auto& limit = found.limit;
  json quota = nullptr;
  if (limit.quota) {
    quota = {{"cpus", limit.quota->cpus},
             {"from", limit.quota->from.string()},
             {"cgroup", limit.quota->version}};
  }
  return {{"hardware", limit.hardware},
          {"affinity", limit.affinity},
          {"quota", quota},
          {"workers", limit.workers},
          {"decided_by", to_string(limit.decided_by)}};
}

json meters_json(const findings& found) {
  json meters = json::array();
  for (const power::meter_state& each : found.meters) {
    meters.push_back({{"source", to_string(each.source)},
                      {"usable", each.usable},
                      {each.usable ? "domains" : "reason", each.detail}});
  }
  return {{"chosen", to_string(found.metering.source)},
          {"sysfs", found.metering.sysfs},
          {"meters", meters}};
}

json to_json(const findings& found) {
  return {
      {"schema_version", info_schema},
      {"command", "info"},
      {"version", version()},
      {"build", {{"compiler", compiler()}, {"kind", build_kind()}}},
      {"topology", json::parse(creek::to_json(found.machine)).value()},
      {"limits", limits_json(found)},
      {"workers", found.workers},
      {"oversubscribed", host_backend::oversubscribed(found.workers, found.limit)},
      {"backends", found.backends},
      {"simd", {{"target", found.vector_targets.front()}, {"usable", found.vector_targets}}},
      {"linalg", found.linalg.as_json},
      {"fence",
       {{"strategy", to_string(found.fence)},
        {"membarrier", found.fence == fence_strategy::membarrier}}},
      {"clock",
       {{"source", tick_clock::uses_tsc() ? "tsc" : "clock_gettime"}, {"ghz", found.ticks_per_ns}}},
      {"cpu_clocks", to_json(found.clocks)},
      {"energy", meters_json(found)}};
}

// --- text
// -----------------------------------------------------------------------------------------

std::string binary_bytes(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  return fmt::format("{:.3g} {}", value, units[unit]);
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string caches_text(const topology& machine) {
  std::map<std::string, int> kinds;  // counts of "L1d 32 KiB" and others; the names sort as needed
  for (const cache& c : machine.caches()) {
    const char* suffix = c.kind == cache_kind::data          ? "d"
                         : c.kind == cache_kind::instruction ? "i"
                                                             : "";
    ++kinds[fmt::format("L{}{} {}", c.level, suffix, binary_bytes(c.bytes))];
  }
  std::vector<std::string> texts;
  for (const auto& [kind, count] : kinds) texts.push_back(fmt::format("{} x{}", kind, count));
  return texts.empty() ? "unknown" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string numa_text(const topology& machine) {
  std::vector<std::string> texts;
  for (const numa_node& node : machine.numa_nodes()) {
    texts.push_back(node.bytes == 0 ? "unknown size" : binary_bytes(node.bytes));
  }
  return fmt::format("{}: {}", counted(texts.size(), "NUMA node", "NUMA nodes"),
                     fmt::join(texts, ", "));
}

void print_distances(const topology& machine) {
  const int n = static_cast<int>(machine.units().size());
  constexpr int widest = 16;  // a terminal cannot show more; --json has all of them
  if (n > widest) return;
  for (int a = 0; a < n; ++a) {
    std::string row;
    for (int b = 0; b < n; ++b) row += fmt::format(" {:2}", machine.distance(a, b));
    const int os_index = machine.units()[static_cast<std::size_t>(a)].os_index;
    fmt::print("{:<11}unit {:<3}{}\n", a == 0 ? "distances" : "", os_index, row);
  }
}

std::string workers_text(const findings& found) {
  const auto& limit = found.limit;
  const std::string quota = limit.quota
                                ? fmt::format("CPU quota {:.4g} (cgroup v{} {})", limit.quota->cpus,
                                              limit.quota->version, limit.quota->from.string())
                                : "no CPU quota";
  std::string text = fmt::format(
      "{} by default ({} decides): {} online, {} in the affinity mask, {}", limit.workers,
      to_string(limit.decided_by), limit.hardware, limit.affinity, quota);
  if (found.workers != limit.workers) {
    text += fmt::format("\n{:11}{} by CREEK_WORKERS{}", "", found.workers,
                        host_backend::oversubscribed(found.workers, limit)
                            ? ": more than can run at once, so waits yield early"
                            : "");
  }
  return text;
}

/// Returns a line per source: its quantities, or why it cannot measure.
std::string meters_text(const findings& found) {
  std::vector<std::string> lines;
  for (const power::meter_state& each : found.meters) {
    lines.push_back(
        fmt::format("{}{}: {}", each.usable ? "" : "no ", to_string(each.source), each.detail));
  }
  if (found.metering.source != power::meter_source::automatic) {
    lines.push_back(fmt::format("{} by CREEK_METER", to_string(found.metering.source)));
  }
  return fmt::format("{}", fmt::join(lines, fmt::format("\n{:11}", "")));
}

void print_text(const findings& found) {
  const topology& machine = found.machine;
  const auto line = [](const char* what, const std::string& text) {
    fmt::print("{:<11}{}\n", what, text);
  };
  line("creek", fmt::format("{}, {}, {}", version(), compiler(), build_kind()));
  line("machine",
       fmt::format("{}, {}, {} ({})",
                   counted(static_cast<std::size_t>(machine.packages()), "package", "packages"),
                   counted(static_cast<std::size_t>(machine.cores()), "core", "cores"),
                   counted(machine.units().size(), "processing unit", "processing units"),
                   machine.source()));
  line("caches", caches_text(machine));
  line("memory", numa_text(machine));
  print_distances(machine);
  line("workers", workers_text(found));
  line("backends", fmt::format("{}", fmt::join(found.backends, ", ")));
  line("vectors", fmt::format("{} (usable: {})", found.vector_targets.front(),
                              fmt::join(found.vector_targets, ", ")));
  line("products", found.linalg.products);
  line("other BLAS", found.linalg.other_blas);
  line("fences",
       fmt::format(
           "{}{}", to_string(found.fence),
           found.fence == fence_strategy::membarrier ? "" : " (membarrier is not available here)"));
  line("clock", fmt::format("{}, {:.4g} GHz",
                            tick_clock::uses_tsc() ? "time stamp counter" : "clock_gettime",
                            found.ticks_per_ns));
  line("CPU clocks", to_text(found.clocks, fmt::format("{:11}", "")));
  line("energy", meters_text(found));
}

}  // namespace

void add_info(command_line::command& app, int& exit_code) {
  auto* command = app.add_subcommand("info", "Show this machine as creek sees it");
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "Print a JSON object with a \"schema_version\"");
  command->footer(R"(Examples:
  creek info                                    topology, limits, default number of workers
  creek info --json | jq .limits                why so many workers?
  creek info --json | jq .cpu_clocks.why_not    why can policies not set the clocks?
  HWLOC_SYNTHETIC="pack:2 core:4 pu:2" creek info   ... of another machine)");
  command->callback([as_json, &exit_code] {
    const findings found = look_around();
    if (*as_json) {
      fmt::print("{}\n", to_json(found).dump(2));
    } else {
      print_text(found);
    }
    exit_code = 0;
  });
}

}  // namespace creek::tool
