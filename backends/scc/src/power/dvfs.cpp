// SPDX-License-Identifier: Apache-2.0
// The queue of the voltage regulator and the rules of safe operation.
#include "dvfs.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

namespace {

std::string in_megahertz(units::hertz f) {
  return std::to_string(std::lround(f.value / 1e6)) + " MHz";
}

/// Returns text with two decimals, without a zero at the end: 1.1 V, 1.15 V.
std::string in_volts(units::volts v) {
  const long hundredths = std::lround(v.value * 100);
  std::string digits = std::to_string(hundredths % 100 + 100).substr(1);
  if (digits.back() == '0') digits.pop_back();
  return std::to_string(hundredths / 100) + "." + digits + " V";
}

}  // namespace

dvfs::dvfs(const chip& of)
    : chip_(of),
      plans_(static_cast<std::size_t>(island_count(of))),
      deferred_(static_cast<std::size_t>(island_count(of))) {
  for (auto& plan : plans_) plan.push_back({{}, of.power.lowest_safe_level(of.clocks.core)});
}

void dvfs::require_divider(int divider) const {
  const chip_power& power = chip_.power;
  if (divider < power.lowest_divider || divider > power.highest_divider) {
    throw usage_error("frequency divider " + std::to_string(divider) + " is outside " +
                      std::to_string(power.lowest_divider) + ".." +
                      std::to_string(power.highest_divider));
  }
}

int dvfs::level_for(int divider) const {
  const clock_period clock = chip_.power.divided(divider);
  const int level = chip_.power.lowest_safe_level(clock);
  if (level == static_cast<int>(chip_.power.levels.size())) {
    throw usage_error("frequency divider " + std::to_string(divider) + ": no voltage allows " +
                      in_megahertz(clock.frequency()) + ", the highest is for " +
                      in_megahertz(chip_.power.levels.back().top));
  }
  return level;
}

int dvfs::level_at(int island, virtual_time at) const noexcept {
  const auto& changes = plan(island);
  std::size_t i = changes.size() - 1;
  while (i > 0 && changes[i].from > at) --i;
  return changes[i].level;
}

int dvfs::lowest_from(int island, virtual_time at) const noexcept {
  const auto& changes = plan(island);
  int lowest = level_at(island, at);
  for (std::size_t i = changes.size(); i-- > 0 && changes[i].from > at;) {
    lowest = std::min(lowest, changes[i].level);
  }
  return lowest;
}

bool dvfs::is_safe(int island, int divider, virtual_time at) const noexcept {
  return chip_.power.lowest_safe_level(chip_.power.divided(divider)) <= lowest_from(island, at);
}

void dvfs::require_safe(int island, int divider, virtual_time at) const {
  if (is_safe(island, divider, at)) return;
  const int lowest = lowest_from(island, at);
  const voltage_level& level = chip_.power.levels[static_cast<std::size_t>(lowest)];
  throw usage_error("unsafe: divider " + std::to_string(divider) + " makes " +
                    in_megahertz(chip_.power.divided(divider).frequency()) + ", voltage island " +
                    std::to_string(island) +
                    (lowest < level_at(island, at) ? " is on its way to " : " is at ") +
                    in_volts(level.voltage) + ", which allows " + in_megahertz(level.top));
}

virtual_time dvfs::queue(int island, int level, virtual_time at) {
  regulator_free_ = std::max(regulator_free_, at) + chip_.power.voltage_change;
  plans_[index(island)].push_back({regulator_free_, level});
  return regulator_free_;
}

}  // namespace creek::scc_backend
