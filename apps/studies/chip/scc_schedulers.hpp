// SPDX-License-Identifier: Apache-2.0
// `creek bench schedulers --backend scc`: the published task benchmarks on the simulated chip, in
// virtual time. Source: the runtime of [Prell 2011] (docs/scc/machine.md).
#pragma once
#include <creek/scc.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace creek::tool::bench {

/// Plan of the runs: all combinations. Only a single run is allowed if the chip records its run.
struct scc_plan {
  scc_backend::machine_options chip;
  std::vector<std::string> workloads = {"spc", "bpc", "tree"};
  std::vector<scheduler_kind> schedulers = {
      scheduler_kind::stealing_random, scheduler_kind::stealing_latency, scheduler_kind::sharing};
  std::vector<unsigned> cores = {1, 2, 4, 8, 16, 32, 48};
  std::vector<unsigned> lengths_us = {1, 5, 10, 50, 100, 500};
  /// Number of tasks per workload; 0: as in [Prell 2011], 100 000, 100 000 and 242 784.
  std::size_t tasks = 0;
  std::uint32_t deque_capacity = 0;
  std::uint64_t seed = 1;                            ///< schedule seed, instead of the chip's own
  std::function<void(const std::string&)> progress;  ///< called with what is being simulated
};

/// One simulated run, and the same work on one core without the runtime.
struct scc_result {
  std::string workload;
  scheduler_kind scheduler = scheduler_kind::stealing_random;
  unsigned length_us = 0;
  unsigned cores = 0;
  std::size_t tasks = 0;
  virtual_time took;
  virtual_time serial;
  units::joules energy;         ///< energy of the chip from its first cycle on
  units::joules serial_energy;  ///< the same, with one core at work
  scc_backend::task_report report;

  [[nodiscard]] double speedup() const {
    return serial.in_seconds().value / took.in_seconds().value;
  }
};

/// Runs the plan. Throws usage_error for an unknown workload, more cores than the chip has, fewer
/// than 100 tasks, or records of more than one run; creek::error if a run gave a wrong answer.
std::vector<scc_result> run_scc_schedulers(const scc_plan& plan);

void print_table(const scc_plan& plan, const std::vector<scc_result>& results, std::FILE* to);
std::string to_json(const scc_plan& plan, const std::vector<scc_result>& results);
std::string to_csv(const std::vector<scc_result>& results);
/// Writes one chart per workload and scheduler to `folder` (made if missing).
void write_charts(const scc_plan& plan, const std::vector<scc_result>& results,
                  const std::string& folder);

}  // namespace creek::tool::bench
