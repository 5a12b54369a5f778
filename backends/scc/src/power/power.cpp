// SPDX-License-Identifier: Apache-2.0
// The power model, and how islands divide the mesh.
#include <creek/scc/power.hpp>

#include <cmath>

#include <creek/scc/chip.hpp>

namespace creek::scc_backend {

const char* to_string(activity what) noexcept {
  constexpr const char* names[activities] = {"compute", "wait", "halt", "finished"};
  return names[static_cast<std::size_t>(what)];
}

int chip_power::nearest_divider(clock_period clock) const noexcept {
  return static_cast<int>(std::lround(reference.value / clock.frequency().value));
}

int chip_power::lowest_safe_level(clock_period clock) const noexcept {
  const auto count = static_cast<int>(levels.size());
  int level = 0;
  while (level < count && levels[static_cast<std::size_t>(level)].top < clock.frequency()) ++level;
  return level;
}

units::watts switching_power(const chip& of, activity what, units::volts voltage,
                             clock_period clock) noexcept {
  const power_model& model = of.power.model;
  return model.share[static_cast<std::size_t>(what)] / of.cores_per_tile *
         (model.tile_capacitance * voltage * voltage * clock.frequency());
}

units::watts leakage_power(const chip& of, units::volts voltage) noexcept {
  return of.power.model.tile_leakage * voltage * voltage / of.cores_per_tile;
}

units::watts uncore_power(const chip& of) noexcept {
  return double(of.columns * of.rows) * (of.power.model.router_cycle * of.clocks.mesh.frequency());
}

namespace {

int islands_in_a_row(const chip& of) noexcept {
  return (of.columns + of.power.island_columns - 1) / of.power.island_columns;
}

}  // namespace

int island_count(const chip& of) noexcept {
  return islands_in_a_row(of) * ((of.rows + of.power.island_rows - 1) / of.power.island_rows);
}

int island_of_tile(const chip& of, int tile) noexcept {
  const int x = tile % of.columns / of.power.island_columns;
  const int y = tile / of.columns / of.power.island_rows;
  return y * islands_in_a_row(of) + x;
}

}  // namespace creek::scc_backend
