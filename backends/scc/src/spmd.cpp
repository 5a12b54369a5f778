// SPDX-License-Identifier: Apache-2.0
// A run from its chip's first cycle to its last.
#include <creek/scc/spmd.hpp>

#include <algorithm>

#include <creek/core/error.hpp>

#include "checker/checker.hpp"
#include "chip/machine.hpp"
#include "power/chip_draws.hpp"
#include "power/wished_clocks.hpp"
#include "simulation/split_mix.hpp"

namespace creek::scc_backend {

virtual_time run_report::length() const noexcept {
  return ended.empty() ? virtual_time{} : *std::max_element(ended.begin(), ended.end());
}

namespace {

void spread_starts(machine& simulated, std::uint64_t seed) {
  const auto choices = static_cast<std::uint64_t>(simulated.description().start_skew.count) + 1;
  for (int i = 0; i < simulated.description().cores(); ++i) {
    const cycles late{
        static_cast<std::int64_t>(split_mix(seed, static_cast<std::uint64_t>(i)) % choices)};
    simulated.simulation().cores().begin_at(core_id{i}, late * simulated.clocks().of(core_id{i}));
  }
}

/// Calls a policy's begin() and end().
struct policy_at_work {
  std::shared_ptr<power_policy> policy;
  wished_clocks clocks;
  chip_draws draws;

  policy_at_work(const wait_options& chosen, machine& on)
      : policy_at_work(chosen, on, static_cast<unsigned>(on.description().cores())) {}
  policy_at_work(const wait_options& chosen, machine& on, unsigned workers)
      : policy(chosen.policy), clocks(on, workers), draws(on.description(), workers) {
    if (!policy) return;
    policy->begin({.workers = workers, .clocks = &clocks, .draws = &draws});
    on.waits().wait_by(*policy, clocks, chosen.kernel_crossing);
  }
  ~policy_at_work() {
    if (policy) policy->end();
  }
  policy_at_work(const policy_at_work&) = delete;
  policy_at_work& operator=(const policy_at_work&) = delete;
};

}  // namespace

run_report run_cores(const machine_options& options, const std::function<void(memory&)>& core) {
  machine simulated(options.description, options.stack_bytes, options.stuck_after, options.check);
  require_crossing(simulated.description(), options.waits.kernel_crossing);
  if (options.describe) simulated.simulation().cores().describe_by(options.describe);
  if (options.seed != 0) spread_starts(simulated, options.seed);
  simulated.computing().measure(options.cycles_a_host_second);
  simulated.memory().bulk().move_blocks_by(options.blocks);
  simulated.records().open(options.trace_file, options.heatmap_file, options.records_may_be);
  const policy_at_work waits(options.waits, simulated);
  run_report report;
  const auto ends = [&] {
    for (int i = 0; i < options.description.cores(); ++i) {
      report.ended.push_back(simulated.simulation().cores().ended_at(core_id{i}));
    }
    return report.length();
  };
  try {
    simulated.run([&](core_id id) {
      memory view(simulated, id);
      simulated.computing().start();
      core(view);
      simulated.computing().stop();
      // A core that has ended waits for nothing, but others of its tile may.
      if (waits.policy) (void)waits.policy->worker_idle(static_cast<unsigned>(id.value));
    });
  } catch (...) {
    (void)found_faults(simulated.memory().check(), options.on_faults);
    try {
      simulated.records().write(ends());  // a trace that shows the failure
    } catch (const error&) {              // the first failure is the one to report
    }
    throw;
  }
  report.faults = found_faults(simulated.memory().check(), options.on_faults);
  simulated.records().write(ends());
  report.usage = simulated.records().usage(report.length());
  simulated.records().tally(report.length());
  report.switches = simulated.simulation().fibers().switches();
  return report;
}

std::vector<core_id> first_cores(const chip& on, int ranks) {
  if (ranks < 1 || ranks > on.cores()) {
    throw usage_error("simulate: chip '" + on.name + "' has " + std::to_string(on.cores()) +
                      " cores, not " + std::to_string(ranks));
  }
  std::vector<core_id> cores;
  for (int i = 0; i < ranks; ++i) cores.push_back(core_id{i});
  return cores;
}

void require_cores(const chip& on, const std::vector<core_id>& cores) {
  for (const core_id core : cores) {
    if (core.value < 0 || core.value >= on.cores()) {
      throw usage_error("simulate: chip '" + on.name + "' has no core " +
                        std::to_string(core.value));
    }
    if (std::count(cores.begin(), cores.end(), core) != 1) {
      throw usage_error("simulate: core " + std::to_string(core.value) + " has two ranks");
    }
  }
}

}  // namespace creek::scc_backend
