// SPDX-License-Identifier: Apache-2.0
#include "power_control.hpp"

#include <algorithm>
#include <string>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

void power_control::change_clock(int tile, virtual_time at, clock_period clock) {
  if (clock == clocks_.of(clocks_.first_core(tile))) return;
  log_.meter().change_clock(tile, at, clock);
  clocks_.set(tile, clock);
  for (int i = 0; i < chip_.cores_per_tile; ++i) {
    const core_id core{tile * chip_.cores_per_tile + i};
    watchers_.look_again(core, at);
  }
}

void power_control::change_island_clock(int island, virtual_time at, clock_period clock) {
  for (int tile = 0; tile < tiles(); ++tile) {
    if (island_of_tile(chip_, tile) == island) change_clock(tile, at, clock);
  }
}

/// Gives the tiles of the running core's island the request's clock; the core stops for the change.
/// Returns false if a later request came in between: then that one decides.
bool power_control::change_island_clock(const power_request& requested) {
  const virtual_time at = simulation_.now() + chip_.power.divider_change * clocks_.here();
  stop_until(at);
  if (!dvfs_.is_deferred(requested.island, requested.number)) return false;
  dvfs_.defer(requested.island, 0);
  change_island_clock(requested.island, at, chip_.power.divided(requested.divider));
  return true;
}

/// Stops the running core until `at`, by when all other cores have come that far.
void power_control::stop_until(virtual_time at) {
  mesh_.stop_until(at);
  limits_.note_progress();
}

void power_control::set_frequency_divider(int divider) {
  dvfs_.require_divider(divider);
  const core_id self = simulation_.running();
  const passage way = mesh_.to_tile(self, chip_.costs.uc_write);  // its tile's clock register
  const virtual_time at = way.served + chip_.power.divider_change * clocks_.here();
  stop_until(at);
  dvfs_.require_safe(island(self), divider, at);
  change_clock(clocks_.tile_of(self), at, chip_.power.divided(divider));
}

void power_control::set_island_divider(int divider) {
  dvfs_.require_divider(divider);
  const int mine = island(simulation_.running());
  virtual_time served = simulation_.now();
  for (int tile = 0; tile < tiles(); ++tile) {
    if (island_of_tile(chip_, tile) != mine) continue;
    simulation_.advance(chip_.costs.uc_write_issue * clocks_.here());
    const passage way = mesh_.to_tile(clocks_.first_core(tile), chip_.costs.uc_write);
    served = std::max(served, way.served);
    simulation_.set_clock(way.start);
  }
  const virtual_time at = served + chip_.power.divider_change * clocks_.here();
  stop_until(at);
  dvfs_.require_safe(mine, divider, at);
  change_island_clock(mine, at, chip_.power.divided(divider));
}

clock_period power_control::read_clock(int tile) {
  if (tile < 0 || tile >= tiles()) {
    throw usage_error("simulated chip: there is no tile " + std::to_string(tile));
  }
  const core_id there = clocks_.first_core(tile);
  simulation_.set_clock(mesh_.to_tile(there, chip_.costs.uc_read).answered);
  return clocks_.of(there);
}

power_request power_control::request(int divider) {
  dvfs_.require_divider(divider);
  const int level = dvfs_.level_for(divider);
  const int mine = island(simulation_.running());
  // The command register; what queues is the change of the voltage.
  const passage way = mesh_.to_system_interface(chip_.costs.mpb_access + chip_.costs.uc_write);
  stop_until(way.answered);
  power_request made{mine, dvfs_.new_request(), divider, level, {}};
  dvfs_.defer(mine, made.number);
  // Lower: frequency first, then voltage. Raise: voltage now, frequency in wait_power().
  const bool stands = !dvfs_.is_safe(mine, divider, simulation_.now()) || change_island_clock(made);
  if (stands && level != dvfs_.planned_level(mine)) {
    const virtual_time effect = dvfs_.queue(mine, level, simulation_.now());
    const units::volts voltage = chip_.power.levels[static_cast<std::size_t>(level)].voltage;
    for (int tile = 0; tile < tiles(); ++tile) {
      if (island_of_tile(chip_, tile) == mine) log_.meter().change_voltage(tile, effect, voltage);
    }
  }
  made.ready = std::max(simulation_.now(), dvfs_.settled(mine));
  return made;
}

void power_control::wait(const power_request& requested) {
  const int mine = island(simulation_.running());
  if (requested.number == 0 || requested.number > dvfs_.requests()) {
    throw usage_error("wait_power: there is no such request");
  }
  if (requested.island != mine) {
    throw usage_error("wait_power: the request is of voltage island " +
                      std::to_string(requested.island) + ", the core is on " +
                      std::to_string(mine));
  }
  if (requested.ready > simulation_.now()) {
    log_.becomes_idle(activity::waiting);
    stop_until(std::max(requested.ready, mesh_.acknowledged()));
    log_.resumes();
  }
  if (dvfs_.is_deferred(mine, requested.number)) (void)change_island_clock(requested);
}

}  // namespace creek::scc_backend
