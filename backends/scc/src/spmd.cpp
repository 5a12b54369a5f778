// SPDX-License-Identifier: Apache-2.0
// A run from its chip's first cycle to its last.
#include <creek/scc/spmd.hpp>

#include <algorithm>

#include <creek/core/error.hpp>

#include "checker.hpp"
#include "machine.hpp"

namespace creek::scc_backend {

virtual_time run_report::length() const noexcept {
  return ended.empty() ? virtual_time{} : *std::max_element(ended.begin(), ended.end());
}

namespace {

/// A number from the seed for each core: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
std::uint64_t drawn(std::uint64_t seed, int core) noexcept {
  std::uint64_t z = seed + (static_cast<std::uint64_t>(core) + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

void spread_starts(machine& simulated, std::uint64_t seed) {
  const auto choices = static_cast<std::uint64_t>(simulated.description().start_skew.count) + 1;
  for (int i = 0; i < simulated.description().cores(); ++i) {
    const cycles late{static_cast<std::int64_t>(drawn(seed, i) % choices)};
    simulated.simulation().begin_at(core_id{i}, late * simulated.clock(core_id{i}));
  }
}

/// The faults found so far, which also the caller's function is told of.
std::vector<fault> faults_of(machine& simulated, const machine_options& options) {
  if (simulated.check() == nullptr) return {};
  std::vector<fault> faults = simulated.check()->faults();
  if (!faults.empty() && options.on_faults) options.on_faults(faults);
  return faults;
}

}  // namespace

run_report run_cores(const machine_options& options, const std::function<void(memory&)>& core) {
  machine simulated(options.description, options.stack_bytes, options.stuck_after);
  if (options.describe) simulated.simulation().describe_by(options.describe);
  if (options.seed != 0) spread_starts(simulated, options.seed);
  if (options.check) simulated.check_accesses();
  simulated.record(options.trace_file, options.heatmap_file);
  run_report report;
  const auto ends = [&] {
    for (int i = 0; i < options.description.cores(); ++i) {
      report.ended.push_back(simulated.simulation().ended_at(core_id{i}));
    }
    return report.length();
  };
  try {
    simulated.run([&](core_id id) {
      memory view(simulated, id);
      core(view);
      if (simulated.check() != nullptr) simulated.check()->ended();
    });
  } catch (...) {
    (void)faults_of(simulated, options);
    try {
      simulated.write_records(ends());  // a trace that says why
    } catch (const error&) {            // the first failure is the one to report
    }
    throw;
  }
  report.faults = faults_of(simulated, options);
  simulated.write_records(ends());
  report.usage = simulated.usage(report.length());
  report.switches = simulated.simulation().switches();
  return report;
}

}  // namespace creek::scc_backend
