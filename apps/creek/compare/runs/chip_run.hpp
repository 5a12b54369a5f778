// SPDX-License-Identifier: Apache-2.0
// Shared parts of runs on the simulated chip, wherever the chip holds the matrix.
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

/// Returns the options of the chip and of what is done to it, without the policy and the trace.
scc_backend::machine_options chip_options_of(const setup& given);

/// Returns the number of cores that take part. Throws usage_error if the chip has fewer.
unsigned chip_workers(const setup& given, const scc_backend::machine_options& on);

backend_facts chip_facts(const scc_backend::machine_options& on, unsigned workers);

/// Notes the time in which these cores were not halted; they had tasks in `in_tasks` of it.
void note_awake(const scc_backend::usage_report& usage, unsigned workers, double in_tasks,
                measured_run& into);

/// Energy over simulated time, noted at the events of a policy.
class chip_sampler final : public state_listener {
 public:
  /// Counts events from here on. Called in the simulation.
  void start();
  /// Stops counting events. Called in the simulation.
  void stop() noexcept;

  void changed(unsigned, bool) noexcept override { note(false); }
  void task(unsigned) noexcept override { note(false); }

  std::vector<energy_point> take_energy() noexcept { return std::move(energy_); }

 private:
  void note(bool at_the_end) noexcept;

  std::optional<power::meter> meter_;
  std::vector<energy_point> energy_;
};

/// Makes the runner that sends blocks in messages; see make_scc_runner().
std::unique_ptr<runner> make_messages_runner(const setup& given, long long n);

}  // namespace creek::tool::compare
