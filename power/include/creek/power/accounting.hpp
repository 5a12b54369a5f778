// SPDX-License-Identifier: Apache-2.0
// Which tasks and which phases of a program used the energy: a power policy that hands all events
// on to another and notes, at each, what its worker did since the one before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <creek/core/power_policy.hpp>
#include <creek/power/host_model.hpp>
#include <creek/power/meter.hpp>
#include <creek/power/phase.hpp>

namespace creek::power {

/// A share of an account.
struct account_line {
  std::string name;
  units::seconds busy;               ///< of all workers together
  units::joules energy = no_joules;  ///< not a number without a figure to share
  std::uint64_t times = 0;  ///< how often a task of this name began or went on; 0 for other lines
};

/// How a reading is shared out. The lines of `tasks` sum to the total, and those of `phases` do.
struct energy_account {
  /// By name, most energy first, "task" for those without one; last "idle and runtime": what no
  /// task used, workers that searched, slept, or were not yet started.
  std::vector<account_line> tasks;
  /// By name, in the order in which they were first opened; "no phase" is the time outside of any.
  /// A phase includes the draw of idle workers during it.
  std::vector<account_line> phases;
};

/// Give it as scheduler_options::policy. Events come as for any policy; reading is for any thread,
/// during a run too. At an event it reads the clock and adds to counters of its worker alone: tens
/// of nanoseconds.
///
/// Names of tasks are kept by address, until restart(): they outlive it, or the accounting.
///
/// Energy is shared in proportion to what host_model says of the cores' part: time that a task ran
/// counts as computing at the clock of its worker's domain, time without one as polling, and as
/// sleep from when the worker stopped searching. A task's time runs until the next event of its
/// worker, so that what the scheduler does between two tasks is in the first.
class accounting final : public power_policy, public activity_source {
 public:
  /// Throws usage_error for a null policy or a model that makes no sense.
  explicit accounting(std::shared_ptr<power_policy> policy, const host_model& model = {});
  ~accounting() override;

  [[nodiscard]] std::string_view name() const noexcept override;
  void begin(const power_site& site) override;
  void end() noexcept override;
  idle_plan worker_idle(unsigned worker) noexcept override;
  void task_about_to_run(unsigned worker, const task_profile& task) noexcept override;
  unsigned tasks_ready(unsigned worker, unsigned count) noexcept override;
  [[nodiscard]] unsigned most_awake() const noexcept override;

  /// Forgets what was counted; a span that is to be shared out begins here. A meter that has this
  /// as its meter_options::activity has to begin anew, too.
  void restart();
  /// Shares out a figure for the span from restart(), or construction, until now. Lines have joules
  /// only if the figure has.
  [[nodiscard]] energy_account account(const energy_figure& figure) const;
  /// Since construction or restart().
  [[nodiscard]] core_activity activity() const override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace creek::power
