// SPDX-License-Identifier: Apache-2.0
// Origin of the constants of power_model: four published measurements of the whole chip, and the
// fit to them.
#pragma once

#include <array>

#include <creek/scc/power.hpp>

namespace creek::scc_backend {

/// A measurement of the chip's power.
struct power_point {
  const char* what;
  const char* source;
  units::volts voltage;
  units::hertz core;  ///< clock of all tiles
  units::hertz mesh;
  activity doing;  ///< activity of all cores
  units::watts measured;
};

/// Returns the points. [Howard 2010] gives no mesh clock for its lower one: assumed 2 x core clock,
/// as at the upper. [Rotta 2012] gives no voltage: assumed that of the safe table for 800 MHz.
[[nodiscard]] const std::array<power_point, 4>& published_power();

/// Returns the power that the chip of the points draws by a model.
[[nodiscard]] units::watts chip_power_at(const power_point& at, const power_model& model);

/// Returns constants, none negative, with the least sum of squares of the relative errors:
/// capacitance, leakage, router energy and the halted cores' share of the switching power.
[[nodiscard]] power_model fit_power_model();

}  // namespace creek::scc_backend
