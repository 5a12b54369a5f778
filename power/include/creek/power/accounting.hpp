// SPDX-License-Identifier: Apache-2.0
// Energy per task and phase of a program: a power policy that passes all events on to another
// policy and records at each event what its worker did since the previous one.
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

/// One line of an account.
struct account_line {
  std::string name;
  units::seconds busy;               ///< sum over all workers
  units::joules energy = no_joules;  ///< NaN without a figure to share
  std::uint64_t times = 0;  ///< how often a task of this name began or resumed; 0 for other lines
};

/// A reading divided among tasks and phases. The lines of `tasks` sum to the total; so do `phases`.
struct energy_account {
  /// By name, most energy first, "task" for tasks without a name; the last line is "idle and
  /// runtime": energy used by no task, while workers searched, slept, or were not started yet.
  std::vector<account_line> tasks;
  /// By name, in the order in which they were first opened; "no phase" is the time outside of all
  /// phases. A phase includes the draw of idle workers during it.
  std::vector<account_line> phases;
};

/// To be passed as scheduler_options::policy. Events come as for any policy; any thread may read,
/// also during a run. An event reads the clock and adds to counters of its own worker: tens of
/// nanoseconds.
///
/// Task names are kept by address until restart(): they must outlive it, or the accounting.
///
/// Energy is divided in proportion to host_model's draws of the cores: time in a task counts as
/// computing at the clock of the worker's domain, time without one as polling, and as sleep after
/// the worker stopped searching. A task's time runs until the worker's next event, so the
/// scheduler's work between two tasks counts for the first.
class accounting final : public power_policy, public activity_source {
 public:
  /// Throws usage_error for a null policy or an invalid model.
  explicit accounting(std::shared_ptr<power_policy> policy, const host_model& model = {});
  ~accounting() override;

  [[nodiscard]] std::string_view name() const noexcept override;
  void begin(const power_site& site) override;
  void end() noexcept override;
  idle_plan worker_idle(unsigned worker) noexcept override;
  void task_about_to_run(unsigned worker, const task_profile& task) noexcept override;
  unsigned tasks_ready(unsigned worker, unsigned count) noexcept override;
  [[nodiscard]] unsigned max_awake() const noexcept override;

  /// Clears the counters; a span to be divided begins here. A meter that has this object as its
  /// meter_options::activity must be restarted, too.
  void restart();
  /// Divides a figure for the span from restart(), or construction, until now. Lines have joules
  /// only if the figure has.
  [[nodiscard]] energy_account account(const energy_figure& figure) const;
  /// Returns the activity since construction or restart().
  [[nodiscard]] core_activity activity() const override;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace creek::power
