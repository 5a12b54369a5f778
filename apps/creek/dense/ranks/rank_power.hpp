// SPDX-License-Identifier: Apache-2.0
// The power policy, the clocks and the meter of one rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <creek/power/accounting.hpp>
#include <creek/power/meter.hpp>
#include <creek/tasking/runtime.hpp>

#include "options/policy_options.hpp"
#include "rank_site.hpp"

namespace creek::tool::dense {

/// Settings of a run that every rank needs.
struct rank_settings {
  std::string policy;  ///< empty: workers wait as CREEK_IDLE says
  policy_limits limits;
  unsigned workers = 0;  ///< per rank; 0: the processors of the rank
};

/// Workers of a rank that follow a policy, and the meter of what they use. Clocks are controlled
/// only if no other rank may use the rank's processors.
class rank_power {
 public:
  rank_power(const rank_settings& chosen, const std::vector<rank_site>& sites, int rank);

  /// Returns the workers, or nullptr if the calling thread computes alone.
  [[nodiscard]] runtime* workers() noexcept;
  [[nodiscard]] unsigned worker_count() const noexcept { return workers_.worker_count(); }
  /// Returns whether this rank reads a meter: a model's, or for all ranks of its machine.
  [[nodiscard]] bool reads_energy() const noexcept { return reads_; }
  [[nodiscard]] power::meter& meter() noexcept { return meter_; }
  /// Returns why the policy's clocks are not set; empty if they are, or it has none.
  [[nodiscard]] std::string clock_failure() const;

 private:
  [[nodiscard]] scheduler_options scheduling(const rank_settings& chosen,
                                             const std::vector<rank_site>& sites, int rank);

  bool reads_, has_policy_;
  std::shared_ptr<power::accounting> account_;  ///< for a model: what the workers did
  std::shared_ptr<clock_control> clocks_;       ///< null: the policy sets none
  runtime workers_;
  power::meter meter_;
};

}  // namespace creek::tool::dense
