// SPDX-License-Identifier: Apache-2.0
// The chip's power model, for policies that plan by one: the power of a core at a clock, at the
// lowest voltage that allows it.
#pragma once

#include <creek/core/power_policy.hpp>
#include <creek/scc/chip.hpp>

namespace creek::scc_backend {

class chip_draws final : public draw_model {
 public:
  /// Models this many workers; `of` must outlive the model.
  chip_draws(const chip& of, unsigned workers) noexcept : chip_(&of), workers_(workers) {}

  units::watts computing(units::hertz clock) const noexcept override {
    return draw(clock, activity::busy);
  }
  units::watts polling(units::hertz clock) const noexcept override {
    return draw(clock, activity::waiting);
  }
  units::watts asleep(units::hertz clock) const noexcept override {
    return draw(clock, activity::halted);
  }
  /// Returns the power of the mesh, and the leakage of the cores without a worker.
  units::watts shared() const noexcept override {
    const auto others = static_cast<double>(chip_->cores()) - workers_;
    return uncore_power(*chip_) + others * leakage_power(*chip_, voltage_for(chip_->clocks.core));
  }

 private:
  units::volts voltage_for(clock_period clock) const noexcept {
    const auto& levels = chip_->power.levels;
    const auto level = static_cast<std::size_t>(chip_->power.lowest_safe_level(clock));
    return levels[level < levels.size() ? level : levels.size() - 1].voltage;
  }
  units::watts draw(units::hertz clock, activity what) const noexcept {
    const clock_period period = clock.value > 0 ? period_of(clock) : chip_->clocks.core;
    const units::volts voltage = voltage_for(period);
    return switching_power(*chip_, what, voltage, period) + leakage_power(*chip_, voltage);
  }

  const chip* chip_;
  double workers_;
};

}  // namespace creek::scc_backend
