// SPDX-License-Identifier: Apache-2.0
#include "rank_power.hpp"

#include <chrono>
#include <utility>

#include <creek/power/linux_clocks.hpp>

namespace creek::tool::dense {
namespace {

bool is_modelled() {
  return power::meter_options::from_environment().source == power::meter_source::model;
}

/// Returns the options of a rank's meter. Ranks of a machine share what its cores share.
power::meter_options metering(const power::activity_source* activity, unsigned workers,
                              int ranks_here) {
  power::meter_options made = power::meter_options::from_environment();
  made.sample_every = std::chrono::seconds(10);  // no counter wraps in that time
  made.activity = activity;
  made.cores = workers;
  made.model.shared = made.model.shared / static_cast<double>(ranks_here);
  return made;
}

}  // namespace

rank_power::rank_power(const rank_settings& chosen, const std::vector<rank_site>& sites, int rank)
    : reads_(is_modelled() || first_rank_of_machine(sites, rank) == rank),
      has_policy_(!chosen.policy.empty()),
      workers_(scheduling(chosen, sites, rank), "host"),
      meter_(metering(account_.get(), workers_.worker_count(), ranks_of_machine(sites, rank))) {}

scheduler_options rank_power::scheduling(const rank_settings& chosen,
                                         const std::vector<rank_site>& sites, int rank) {
  scheduler_options made = scheduler_options::from_environment();
  if (chosen.workers != 0) made.workers = chosen.workers;
  if (!has_policy_) return made;
  made.policy = policy_named(chosen.policy, chosen.limits);
  if (is_modelled()) {
    account_ = std::make_shared<power::accounting>(std::move(made.policy));
    made.policy = account_;
  }
  if (!controls_clocks(chosen.policy)) return made;
  if (shares_processors(sites, rank)) {
    clocks_ = std::make_shared<no_clock_control>(
        "ranks share processors; have the launcher bind each rank to its own "
        "(docs/machines.md#power)");
  } else {
    clocks_ = power::linux_clocks({.workers = made.workers, .pinned = made.pin});
  }
  made.clocks = clocks_;
  return made;
}

runtime* rank_power::workers() noexcept {
  return has_policy_ || workers_.worker_count() > 1 ? &workers_ : nullptr;
}

std::string rank_power::clock_failure() const {
  if (clocks_ == nullptr) return {};
  return clocks_->clocks().empty() ? clocks_->why_not() : clocks_->failed();
}

}  // namespace creek::tool::dense
