// SPDX-License-Identifier: Apache-2.0
// Samples a machine whenever a worker changes its state or begins a task: how many workers are in
// tasks, their clocks, and the energy so far. It has no thread of its own: between two events
// nothing changes but the energy.
#pragma once

#include <chrono>
#include <creek/core/measuring/trace.hpp>
#include <creek/power/meter.hpp>
#include <mutex>
#include <vector>

#include "measured_run.hpp"
#include "watched_policy.hpp"

namespace creek::tool::compare {

class run_sampler final : public state_listener {
 public:
  /// Records into tracks of `session`. Both outlive the sampler.
  run_sampler(trace::session& session, unsigned workers);

  /// Counts events from here on. `meter` and `watch` must exist until stop().
  void start(power::meter& meter, const watched_policy& watch);
  void stop() noexcept;

  void changed(unsigned worker, bool in_task) noexcept override;
  void task(unsigned worker) noexcept override;

  /// Returns the recorded energy; call it after stop().
  std::vector<energy_point> take_energy() noexcept { return std::move(energy_); }

 private:
  using clock = std::chrono::steady_clock;

  void note_clock(unsigned worker);
  void note_energy(bool at_the_end);

  trace::session& session_;
  trace::track& counters_;
  std::mutex mutex_;  // guards everything below; counters_ is recorded under it
  power::meter* meter_ = nullptr;
  const watched_policy* watch_ = nullptr;
  clock::time_point began_, last_;
  std::vector<bool> in_task_;
  std::vector<double> clocks_;
  std::vector<energy_point> energy_;
};

}  // namespace creek::tool::compare
