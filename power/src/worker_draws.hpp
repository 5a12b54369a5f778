// SPDX-License-Identifier: Apache-2.0
// What the workers of a site draw together, by the chip's model or that of an ordinary host, and
// how fast they are: for policies that choose how many work, and at which clock.
#pragma once

#include <cstddef>
#include <vector>

#include <creek/core/power_policy.hpp>
#include <creek/power/host_model.hpp>

namespace creek::power::detail {

/// So many workers at work at one clock; the others sleep.
struct operating_point {
  unsigned active = 1;
  std::size_t step = 0;  ///< of the clocks; 0 without control
};

class worker_draws {
 public:
  /// `model` where the site has none of its own.
  void begin(const power_site& site, const host_model& model);

  unsigned workers() const noexcept { return workers_; }
  /// At least 1: without control the one that there is.
  std::size_t steps() const noexcept { return speeds_.size(); }
  /// Of one worker; the highest clock is 1.
  double speed(std::size_t step) const noexcept { return speeds_[step]; }
  units::watts draw(operating_point at) const noexcept {
    return shared_ + at.active * computing_[at.step] + (workers_ - at.active) * asleep_[at.step];
  }
  /// All asleep, at the lowest clock.
  units::watts idle() const noexcept { return shared_ + workers_ * asleep_.front(); }

 private:
  unsigned workers_ = 0;
  units::watts shared_;
  std::vector<double> speeds_;
  std::vector<units::watts> computing_, asleep_;  ///< one worker, by step
};

}  // namespace creek::power::detail
