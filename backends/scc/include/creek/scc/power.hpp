// SPDX-License-Identifier: Apache-2.0
// Clocks and voltages of a simulated chip, and the power that they cost. Each tile divides the
// chip's reference clock; 2 x 2 tiles share a supply (a voltage island); one regulator serves one
// voltage request at a time: docs/scc/machine.md.
// The tag that tools print for a source, besides those of chip.hpp:
//   [H]   [Howard 2010]
// The fit of the model's constants, with its residuals: docs/scc/power.md and power_fit.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

struct chip;

/// Activity of a core, as far as its power is concerned.
enum class activity : std::uint8_t {
  busy,      ///< computes, or stalls for an access of its own
  waiting,   ///< polls: as much power as computing (120 W when all cores do [Rotta 2012])
  halted,    ///< stopped until an interrupt, or before its first cycle
  finished,  ///< its program has ended; halted for good
};
inline constexpr std::size_t activities = 4;
[[nodiscard]] const char* to_string(activity what) noexcept;

/// The frequency that a supply voltage allows at most.
struct voltage_level {
  units::volts voltage;
  units::hertz top;
};

using switched_capacitance = units::quantity<0, 1, -2, -1, 0>;  ///< J / (V^2 cycle)
using leakage_conductance = units::quantity<-1, 1, -2, 0, 0>;   ///< W / V^2
using energy_per_cycle = units::quantity<0, 1, 0, -1, 0>;       ///< J / cycle

/// P = sum over cores of (activity C V^2 f + G V^2) + sum over routers of e f_mesh. Constants are
/// those of a tile, so that the model scales with the mesh; cores share their tile's evenly.
/// Estimates: power_fit.hpp fits them to [Howard 2010] and [Rotta 2012], and a test checks them.
struct power_model {
  switched_capacitance tile_capacitance{2.1435325e-9};
  leakage_conductance tile_leakage{1.7571552};
  energy_per_cycle router_cycle{2.3492758e-10};
  /// Share of the switching power that is left while a core is in a state. Busy-waiting draws full
  /// power [Rotta 2012]. A halted core's clock stands still: the fit gives it nothing.
  std::array<double, activities> share{1, 1, 0, 0};
};

/// The part of a chip's description that says how it is clocked and supplied.
struct chip_power {
  units::hertz reference = units::megahertz(1600);  ///< of all tile clocks [Mattson 2010]
  int lowest_divider = 2;                           ///< [Mattson 2010]
  int highest_divider = 16;                         ///< [Mattson 2010]
  int island_columns = 2, island_rows = 2;          ///< tiles of a voltage island [Mattson 2010]
  cycles divider_change{20};                        ///< core cycles of the old clock [Mattson 2010]
  virtual_time voltage_change{1'000'000'000'000};   ///< 1 ms [Mattson 2010]
  /// Safe operation, lowest first: RCCE's table [Mattson 2010].
  std::vector<voltage_level> levels{
      {units::volts{0.7}, units::megahertz(460)},  {units::volts{0.8}, units::megahertz(598)},
      {units::volts{0.9}, units::megahertz(644)},  {units::volts{1.0}, units::megahertz(748)},
      {units::volts{1.1}, units::megahertz(875)},  {units::volts{1.2}, units::megahertz(1024)},
      {units::volts{1.3}, units::megahertz(1198)},
  };
  power_model model;

  /// Returns a tile's clock. Exact if the reference's period is whole femtoseconds, as of 1600 MHz.
  [[nodiscard]] clock_period divided(int divider) const noexcept {
    return {divider * period_of(reference).length};
  }
  /// Returns the divider whose clock is nearest.
  [[nodiscard]] int nearest_divider(clock_period clock) const noexcept;
  /// Returns the index of the lowest level for the frequency; the number of levels if none does.
  [[nodiscard]] int lowest_safe_level(clock_period clock) const noexcept;
};

/// Returns the power of one core in a state at a voltage and clock, without its leakage.
[[nodiscard]] units::watts switching_power(const chip& of, activity what, units::volts voltage,
                                           clock_period clock) noexcept;
/// Returns the power that a core leaks at a voltage, whatever it does.
[[nodiscard]] units::watts leakage_power(const chip& of, units::volts voltage) noexcept;
/// Returns the power of the mesh at its clock.
[[nodiscard]] units::watts uncore_power(const chip& of) noexcept;

/// Tiles and cores of a chip as grouped by its supplies: island i is the i-th block of tiles, row
/// by row from the lower left.
[[nodiscard]] int island_count(const chip& of) noexcept;
[[nodiscard]] int island_of_tile(const chip& of, int tile) noexcept;

/// A requested step of voltage and frequency; from dvfs_control::request_power().
struct power_request {
  int island = -1;
  std::uint64_t number = 0;  ///< counts the requests of the run, from 1
  int divider = 0;           ///< divider that its island's tiles get
  int level = 0;             ///< index into chip_power::levels that its island gets
  virtual_time ready;        ///< when the regulator is done with it
};

}  // namespace creek::scc_backend
