// SPDX-License-Identifier: Apache-2.0
// Shared parts of runs on the simulated chip, in whatever way the chip has the matrix.
#pragma once

#include <creek/core/power_policy.hpp>
#include <creek/core/work_graph.hpp>
#include <creek/power/meter.hpp>
#include <creek/scc/spmd.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "measured_run.hpp"
#include "watched_policy.hpp"

namespace creek::tool::compare {

/// The chip, and what is done to it, but for the policy and the trace.
scc_backend::machine_options chip_options_of(const setup& given);

/// Cores that take part. Throws usage_error if the chip has fewer.
unsigned chip_workers(const setup& given, const scc_backend::machine_options& on);

backend_facts chip_facts(const scc_backend::machine_options& on, unsigned workers);

std::shared_ptr<power_policy> chip_policy(const setup& given, std::string_view name,
                                          const work_graph& plan);

/// Time in which the cores that take part were not halted, of which `in_tasks` had a task.
void note_awake(const scc_backend::usage_report& usage, unsigned workers, double in_tasks,
                measured_run& into);

/// Energy over simulated time, noted at the events of a policy.
class chip_sampler final : public state_listener {
 public:
  /// In the simulation; from here on events count.
  void start();
  /// In the simulation.
  void stop() noexcept;

  void changed(unsigned, bool) noexcept override { note(false); }
  void task(unsigned) noexcept override { note(false); }

  std::vector<energy_point> take_energy() noexcept { return std::move(energy_); }

 private:
  void note(bool at_the_end) noexcept;

  std::optional<power::meter> meter_;
  std::vector<energy_point> energy_;
};

/// Blocks sent in messages; see make_scc_runner().
std::unique_ptr<runner> make_messages_runner(const setup& given, long long n);

}  // namespace creek::tool::compare
