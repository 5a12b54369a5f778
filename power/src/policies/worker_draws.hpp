// SPDX-License-Identifier: Apache-2.0
// Total draw of a site's workers, by the site's model or the model of an ordinary host, and their
// speed: for policies that choose how many workers run, and at which clock.
#pragma once

#include <cstddef>
#include <vector>

#include <creek/core/power_policy.hpp>
#include <creek/power/host_model.hpp>

namespace creek::power::detail {

/// `active` workers that compute at one clock; the others sleep.
struct operating_point {
  unsigned active = 1;
  std::size_t step = 0;  ///< index of the clock; 0 without control
};

class worker_draws {
 public:
  /// Uses `model` if the site has no model of its own.
  void begin(const power_site& site, const host_model& model);

  unsigned workers() const noexcept { return workers_; }
  /// Returns the number of clocks, at least 1: without control there is one.
  std::size_t steps() const noexcept { return speeds_.size(); }
  /// Returns one worker's speed; the highest clock has speed 1.
  double speed(std::size_t step) const noexcept { return speeds_[step]; }
  units::watts draw(operating_point at) const noexcept {
    return shared_ + at.active * computing_[at.step] + (workers_ - at.active) * asleep_[at.step];
  }
  /// Returns the draw with all workers asleep, at the lowest clock.
  units::watts idle() const noexcept { return shared_ + workers_ * asleep_.front(); }

 private:
  unsigned workers_ = 0;
  units::watts shared_;
  std::vector<double> speeds_;
  std::vector<units::watts> computing_, asleep_;  ///< of one worker, by step
};

}  // namespace creek::power::detail
