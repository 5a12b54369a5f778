// SPDX-License-Identifier: Apache-2.0
// Presets, and the conditions that a description must satisfy.
#include <creek/scc/chip.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <creek/core/error.hpp>
#include <creek/scc/cost_table.hpp>

namespace creek::scc_backend {

namespace {

constexpr int most_cores = 1 << 16;
constexpr units::hertz lowest_frequency = units::megahertz(1e-3);
constexpr units::hertz highest_frequency = units::megahertz(1e6);
/// Longest time of one operation: sums of a few, some of them a hundred requests at once, stay
/// below the end of virtual time if the run itself does.
constexpr virtual_time longest{1'000'000'000'000'000};
constexpr std::size_t max_bytes = std::size_t{128} << 30;  // lines are numbered in 32 bits

[[noreturn]] void refuse(const chip& what, const std::string& why) {
  throw usage_error("chip '" + what.name + "': " + why);
}

void require_positive(const chip& what, const char* key, std::int64_t value) {
  if (value <= 0)
    refuse(what, std::string(key) + " must be positive, not " + std::to_string(value));
}

void require_up_to(const chip& what, const char* key, int value, int most) {
  require_positive(what, key, value);
  if (value > most) {
    refuse(what, std::string(key) + " must be at most " + std::to_string(most) + ", not " +
                     std::to_string(value));
  }
}

void require_frequency(const chip& what, const std::string& key, units::hertz value) {
  if (!(value >= lowest_frequency && value <= highest_frequency)) {
    refuse(what, key + " must be 0.001 to 1000000 MHz");
  }
}

void require_inside(const chip& what, const char* key, mesh_place at) {
  if (at.x < 0 || at.x >= what.columns || at.y < 0 || at.y >= what.rows) {
    refuse(what, std::string(key) + " is outside the mesh");
  }
}

void require_blocks(const chip& what, const char* key, std::size_t bytes) {
  if (bytes % lut_block_bytes != 0) {
    refuse(what, std::string(key) + " must be whole blocks of 16 MB (" +
                     std::to_string(lut_block_bytes) + " bytes)");
  }
}

void validate_power(const chip& of) {
  const chip_power& power = of.power;
  const auto& levels = power.levels;
  if (levels.empty()) refuse(of, "no voltage levels");
  for (std::size_t i = 1; i < levels.size(); ++i) {
    if (!(levels[i - 1].voltage < levels[i].voltage) || !(levels[i - 1].top < levels[i].top)) {
      refuse(of, "voltage levels must rise, in voltage and frequency");
    }
  }
  require_frequency(of, "reference_mhz", power.reference);
  require_positive(of, "lowest_divider", power.lowest_divider);
  if (power.highest_divider < power.lowest_divider) {
    refuse(of, "highest_divider is below lowest_divider");
  }
  require_frequency(of, "reference_mhz by highest_divider",
                    power.reference / double(power.highest_divider));
  require_up_to(of, "island_columns", power.island_columns, most_cores);
  require_up_to(of, "island_rows", power.island_rows, most_cores);
  if (power.divider_change.count < 0) refuse(of, "divider_change is negative");
  if (power.voltage_change < virtual_time{} || power.voltage_change > longest) {
    refuse(of, "voltage_change must take no more than a second");
  }
  for (const auto& [clock, name] : {std::pair{of.clocks.core, "core"},
                                    {of.clocks.mesh, "mesh"},
                                    {of.clocks.memory, "memory"}}) {
    require_positive(of, (std::string("the ") + name + " clock's period").c_str(),
                     clock.length.femtoseconds);
    require_frequency(of, std::string("the ") + name + " clock", clock.frequency());
  }
  if (power.lowest_safe_level(of.clocks.core) == static_cast<int>(levels.size())) {
    refuse(of, "no voltage allows a core clock of " +
                   std::to_string(std::lround(of.clocks.core.frequency().value / 1e6)) +
                   " MHz, the highest is for " +
                   std::to_string(std::lround(levels.back().top.value / 1e6)) + " MHz");
  }
}

/// `times`: maximum number of times that one operation has the cost.
void require_short(const chip& of, const std::string& key, cycles cost, clock_period clock,
                   int times = 1) {
  if (cost.count < 0) refuse(of, key + " is negative: " + std::to_string(cost.count));
  if (cost.count > longest.femtoseconds / clock.length.femtoseconds / times) {
    refuse(of, key + " takes longer than a second: " + std::to_string(cost.count) + " cycles");
  }
}

void validate_costs(const chip& of) {
  const clock_period slowest = std::max(of.clocks.core, of.power.divided(of.power.highest_divider));
  for (const cost_entry& entry : cost_table()) {
    const bool mesh = entry.domain == clock_domain::mesh;
    require_short(of, std::string("cost ") + entry.name, of.costs.*entry.cost,
                  mesh                                   ? of.clocks.mesh
                  : entry.domain == clock_domain::memory ? of.clocks.memory
                                                         : slowest,
                  mesh ? of.columns + of.rows : 1);
  }
  if (of.costs.poll.count < 1) {
    refuse(of, "cost poll must be at least 1: a loop that takes no time never ends");
  }
  require_short(of, "start_skew", of.start_skew, slowest);
  require_short(of, "divider_change", of.power.divider_change, slowest);
}

}  // namespace

int chip::controller_of(core_id core) const noexcept {
  const auto nearest = std::min_element(
      controllers_at.begin(), controllers_at.end(),
      [at = place(core)](mesh_place a, mesh_place b) { return hops(at, a) < hops(at, b); });
  return static_cast<int>(nearest - controllers_at.begin());
}

void chip::validate() const {
  require_positive(*this, "columns", columns);
  require_positive(*this, "rows", rows);
  require_positive(*this, "cores_per_tile", cores_per_tile);
  if (columns > most_cores || rows > most_cores || cores_per_tile > most_cores ||
      std::int64_t{columns} * rows > most_cores / cores_per_tile) {
    refuse(*this, "more than " + std::to_string(most_cores) + " cores");
  }
  if (mpb_bytes == 0 || mpb_bytes % 32 != 0) refuse(*this, "mpb_bytes must be whole lines of 32");
  validate_power(*this);  // before the costs, which a divided clock stretches
  validate_costs(*this);
  require_inside(*this, "counters_at", counters_at);
  if (controllers_at.empty()) refuse(*this, "controllers_at is empty: no memory");
  for (const mesh_place& place : controllers_at) require_inside(*this, "controllers_at", place);
  require_up_to(*this, "ranks_per_controller", ranks_per_controller, most_cores);
  require_blocks(*this, "shared_bytes", shared_bytes);
  require_blocks(*this, "private_bytes", private_bytes);
  if (l1_bytes == 0 || l2_bytes < l1_bytes) refuse(*this, "l2_bytes must not be below l1_bytes");
  const auto all_cores = static_cast<std::size_t>(cores());
  if (shared_bytes > max_bytes || mpb_bytes > max_bytes / all_cores ||
      private_bytes > max_bytes / all_cores ||
      all_cores * (mpb_bytes + private_bytes) > max_bytes - shared_bytes) {
    refuse(*this, "more than 128 GB of memory in all");
  }
}

void chip::place_edges() {
  const int right = columns - 1, middle = rows / 2;
  counters_at = {columns / 2, 0};
  controllers_at = {{0, 0}, {right, 0}, {0, middle}, {right, middle}};
}

chip chip::scc_533() {
  chip made;
  made.clocks = {period_of(units::megahertz(1600.0 / 3)), period_of(units::megahertz(800)),
                 period_of(units::megahertz(800))};
  return made;
}

chip chip::scc_800() {
  chip made;
  made.name = "scc-800";
  made.clocks = {period_of(units::megahertz(800)), period_of(units::megahertz(1600)),
                 period_of(units::megahertz(1600.0 * 2 / 3))};
  return made;
}

chip chip::named(const std::string& name) {
  for (const chip& preset : {scc_533(), scc_800()}) {
    if (preset.name == name) return preset;
  }
  throw usage_error("unknown chip '" + name + "'; valid: scc-533, scc-800");
}

chip chip::with_cores(int cores) {
  chip made = scc_533();
  if (cores <= made.cores()) return made;
  const int tiles = (cores + made.cores_per_tile - 1) / made.cores_per_tile;
  made.columns = static_cast<int>(std::ceil(std::sqrt(tiles)));
  made.rows = (tiles + made.columns - 1) / made.columns;
  made.place_edges();
  if (made.cores() > 4096) made.private_bytes = 0;  // no other core could map it
  made.name = "mesh-" + std::to_string(made.columns) + "x" + std::to_string(made.rows);
  return made;
}

}  // namespace creek::scc_backend
