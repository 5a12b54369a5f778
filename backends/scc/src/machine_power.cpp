// SPDX-License-Identifier: Apache-2.0
// The power operations of the memory policy in virtual time. A clock is changed by a core of its
// tile or, with a voltage, of its island; every other core there goes on at the new clock with its
// next operation: a stretch of computation, or an access under way, ends at the speed at which it
// began. A polling core that is parked is woken for one more look, so that its polling goes on in
// the new rhythm.
#include <string>
#include <utility>

#include <creek/core/energy.hpp>
#include <creek/core/error.hpp>

#include "machine.hpp"

namespace creek::scc_backend {

int machine::island(core_id core) const noexcept {
  return island_of_tile(chip_, tile_of(core));
}

void machine::change_clock(int tile, virtual_time at, clock_period clock) {
  if (clock == this->clock(core_id{tile * chip_.cores_per_tile})) return;
  meter_.change_clock(tile, at, clock);
  for (int i = 0; i < chip_.cores_per_tile; ++i) {
    const core_id core{tile * chip_.cores_per_tile + i};
    local_[core.index()].clock = clock;
    look_again(core, at);
  }
}

void machine::change_island_clock(int island, virtual_time at, clock_period clock) {
  for (int tile = 0; tile < chip_.columns * chip_.rows; ++tile) {
    if (island_of_tile(chip_, tile) == island) change_clock(tile, at, clock);
  }
}

/// Gives the tiles of the running core's island the request's clock; the core stops for the change.
/// Returns false if a later request came in between: then that one decides.
bool machine::change_island_clock(const power_request& request) {
  const virtual_time at = engine_.now() + chip_.power.divider_change * here_clock();
  go_on_at(at);
  if (!dvfs_.is_deferred(request.island, request.number)) return false;
  dvfs_.defer(request.island, 0);
  change_island_clock(request.island, at, chip_.power.divided(request.divider));
  return true;
}

/// Stops the running core until `at`, by when all other cores have come that far.
void machine::go_on_at(virtual_time at) {
  engine_.order_at(at);
  engine_.throw_if_aborted();
  engine_.set_clock(at);
  here().acknowledged = std::max(here().acknowledged, at);
  note_progress();
}

void machine::set_frequency_divider(int divider) {
  dvfs_.require_divider(divider);
  const core_id self = engine_.running();
  const passage way = request_tile(self, chip_.costs.uc_write);  // its tile's clock register
  const virtual_time at = way.served + chip_.power.divider_change * here_clock();
  go_on_at(at);
  dvfs_.require_safe(island(self), divider, at);
  change_clock(tile_of(self), at, chip_.power.divided(divider));
}

void machine::set_island_divider(int divider) {
  dvfs_.require_divider(divider);
  const int mine = island(engine_.running());
  virtual_time served = engine_.now();
  for (int tile = 0; tile < chip_.columns * chip_.rows; ++tile) {
    if (island_of_tile(chip_, tile) != mine) continue;
    engine_.advance(chip_.costs.uc_write_issue * here_clock());
    const passage way = request_tile(core_id{tile * chip_.cores_per_tile}, chip_.costs.uc_write);
    served = std::max(served, way.served);
    engine_.set_clock(way.start);
  }
  const virtual_time at = served + chip_.power.divider_change * here_clock();
  go_on_at(at);
  dvfs_.require_safe(mine, divider, at);
  change_island_clock(mine, at, chip_.power.divided(divider));
}

clock_period machine::read_clock(int tile) {
  if (tile < 0 || tile >= chip_.columns * chip_.rows) {
    throw usage_error("simulated chip: there is no tile " + std::to_string(tile));
  }
  const core_id there{tile * chip_.cores_per_tile};
  engine_.set_clock(request_tile(there, chip_.costs.uc_read).answered);
  return clock(there);
}

power_request machine::request_power(int divider) {
  dvfs_.require_divider(divider);
  const int level = dvfs_.level_for(divider);
  const int mine = island(engine_.running());
  // The command register; what queues is the change of the voltage.
  const passage way =
      request_unqueued(chip_.counters_at, chip_.costs.mpb_access + chip_.costs.uc_write);
  go_on_at(way.answered);
  power_request made{mine, dvfs_.new_request(), divider, level, {}};
  dvfs_.defer(mine, made.number);
  // Lower: frequency first, then voltage. Raise: voltage now, frequency in wait_power().
  const bool stands = !dvfs_.is_safe(mine, divider, engine_.now()) || change_island_clock(made);
  if (stands && level != dvfs_.planned_level(mine)) {
    const virtual_time effect = dvfs_.queue(mine, level, engine_.now());
    const units::volts voltage = chip_.power.levels[static_cast<std::size_t>(level)].voltage;
    for (int tile = 0; tile < chip_.columns * chip_.rows; ++tile) {
      if (island_of_tile(chip_, tile) == mine) meter_.change_voltage(tile, effect, voltage);
    }
  }
  made.ready = std::max(engine_.now(), dvfs_.settled(mine));
  return made;
}

void machine::wait_power(const power_request& request) {
  const int mine = island(engine_.running());
  if (request.number == 0 || request.number > dvfs_.requests()) {
    throw usage_error("wait_power: there is no such request");
  }
  if (request.island != mine) {
    throw usage_error("wait_power: the request is of voltage island " +
                      std::to_string(request.island) + ", the core is on " + std::to_string(mine));
  }
  if (request.ready > engine_.now()) {
    becomes_idle(activity::waiting);
    go_on_at(std::max(request.ready, here().acknowledged));
    resumes();
  }
  if (dvfs_.is_deferred(mine, request.number)) (void)change_island_clock(request);
}

/// Lets cores that are behind run first: then all energy used up to now is known.
simulated_energy machine::chip_meter::read() noexcept {
  const core_operation begun(*on);
  const virtual_time now = on->engine_.now();
  on->engine_.order_at(now);
  return {on->meter_.used_until(now), now.in_seconds()};
}

units::seconds machine::chip_meter::now() noexcept {
  const core_operation begun(*on);
  return on->engine_.now().in_seconds();
}

// --- Records ------------------------------------------------------------------------------------

usage_report machine::usage(virtual_time end) {
  usage_report made = meter_.report(end);
  for (std::size_t i = 0; i < traffic_.size(); ++i) {
    core_usage& core = made.cores[i];
    core.interrupts = local_[i].interrupts;
    core.mpb_reads = traffic_[i].reads;
    core.mpb_writes = traffic_[i].writes;
    core.bytes_out = traffic_[i].bytes_out;
    core.bytes_in = traffic_[i].bytes_in;
  }
  return made;
}

void machine::tally(virtual_time end) {
  creek::detail::simulations.add({meter_.report(end).total, end.in_seconds()});
}

void machine::record(const std::string& trace_file, const std::string& heatmap_file,
                     atomic_file::targets may_be) {
  if (!trace_file.empty()) {
    trace_file_.emplace(trace_file, may_be);
    trace_ = std::make_unique<chip_trace>(chip_);
  }
  if (!heatmap_file.empty()) {
    heatmap_file_.emplace(heatmap_file, may_be);
    flows_ = std::make_unique<tile_flows>(chip_.columns * chip_.rows);
  }
}

void machine::write_records(virtual_time end) {
  if (trace_) trace_->write(*trace_file_, meter_, end);
  if (flows_) heatmap_file_->write(heatmap(chip_, usage(end), *flows_, end));
  if (trace_file_) trace_file_->prepare();
  if (heatmap_file_) heatmap_file_->prepare();
  if (trace_file_) trace_file_->commit();
  if (heatmap_file_) heatmap_file_->commit();
}

}  // namespace creek::scc_backend
