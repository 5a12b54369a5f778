// SPDX-License-Identifier: Apache-2.0
// Filter for clock wishes of workers that passes only changes to a control: a policy wishes at
// every event, and a wish may be a write to a file of the kernel.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <creek/core/power_policy.hpp>

namespace creek::power::detail {

class clock_wishes {
 public:
  /// Called by a policy's start(). If there are no clocks to choose from, prints it to standard
  /// error, once per process for each policy and reason.
  void begin(const power_site& site, std::string_view policy);

  bool controls() const noexcept { return steps_ != 0; }
  /// Returns the number of clocks; 0 without control.
  std::size_t steps() const noexcept { return steps_; }

  /// Called on the worker.
  void wish(unsigned worker, std::size_t step) noexcept {
    if (steps_ == 0) return;
    last& mine = last_[worker];
    if (mine.step == step) return;
    mine.step = step;
    clocks_->wish(worker, step);
  }
  void wish_lowest(unsigned worker) noexcept { wish(worker, 0); }
  void wish_highest(unsigned worker) noexcept { wish(worker, steps_ - 1); }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct alignas(64) last {
    std::size_t step = none;
  };
  clock_control* clocks_ = nullptr;
  std::size_t steps_ = 0;
  std::vector<last> last_;
};

}  // namespace creek::power::detail
