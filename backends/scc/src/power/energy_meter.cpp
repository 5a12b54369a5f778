// SPDX-License-Identifier: Apache-2.0
// Charging of intervals against the history of operating points.
#include "energy_meter.hpp"

#include <algorithm>
#include <utility>

namespace creek::scc_backend {

energy_meter::energy_meter(const chip& of)
    : chip_(of),
      tiles_(static_cast<std::size_t>(of.columns * of.rows)),
      cores_(static_cast<std::size_t>(of.cores())),
      accounts_(1) {
  const auto& levels = of.power.levels;
  const int level = of.power.lowest_safe_level(of.clocks.core);
  for (auto& points : tiles_) {
    points.push_back({{}, levels[static_cast<std::size_t>(level)].voltage, of.clocks.core});
  }
}

// --- Operating points ---------------------------------------------------------------------------

const operating_point& energy_meter::point_at(int tile, virtual_time at) const noexcept {
  const auto& points = history(tile);
  std::size_t i = points.size() - 1;
  while (i > 0 && points[i].from > at) --i;
  return points[i];
}

/// Changes a tile's history from `at` on. Its cores that have run ahead were busy beyond `at`:
/// their charges from there on are taken back and made anew at the new points.
template <class Change>
void energy_meter::change(int tile, virtual_time at, Change apply) {
  const int first = tile * chip_.cores_per_tile;
  const auto recharge = [&](int sign) {
    for (int i = first; i < first + chip_.cores_per_tile; ++i) {
      const virtual_time ahead = cores_[static_cast<std::size_t>(i)].charged;
      if (ahead > at) charge(core_id{i}, activity::busy, at, ahead, sign);
    }
  };
  recharge(-1);
  apply(tiles_[static_cast<std::size_t>(tile)]);
  recharge(1);
}

void energy_meter::change_clock(int tile, virtual_time at, clock_period clock) {
  change(tile, at, [&](std::vector<operating_point>& points) {
    auto later = points.end();
    while (later != points.begin() && std::prev(later)->from > at) --later;
    const operating_point before = *std::prev(later);
    later = points.insert(later, {at, before.voltage, clock});
    for (; later != points.end(); ++later) later->clock = clock;
  });
}

void energy_meter::change_voltage(int tile, virtual_time at, units::volts voltage) {
  change(tile, at, [&](std::vector<operating_point>& points) {
    points.push_back({at, voltage, points.back().clock});
  });
}

// --- Charging -----------------------------------------------------------------------------------

energy_meter::row& energy_meter::row_of(core_record& core, const operating_point& point) {
  const auto is_it = [&](const row& r) {
    return r.spent.clock == point.clock && r.spent.voltage == point.voltage;
  };
  if (core.newest < core.rows.size() && is_it(core.rows[core.newest])) {
    return core.rows[core.newest];
  }
  const auto found = std::find_if(core.rows.begin(), core.rows.end(), is_it);
  core.newest = static_cast<std::size_t>(found - core.rows.begin());
  if (found != core.rows.end()) return *found;
  row added{{point.voltage, point.clock, {}}, {}};
  for (std::size_t kind = 0; kind < activities; ++kind) {
    added.power[kind] = switching_power(chip_, activity(kind), point.voltage, point.clock) +
                        leakage_power(chip_, point.voltage);
  }
  return core.rows.emplace_back(added);
}

void energy_meter::charge(core_id core, activity kind, virtual_time from, virtual_time to,
                          int sign) {
  core_record& self = cores_[core.index()];
  const auto& points = history(tile_of(core));
  const auto which = static_cast<std::size_t>(kind);
  account_usage& account = accounts_[self.account.number];
  for (std::size_t i = points.size(); i-- > 0 && from < to;) {
    const virtual_time begin = std::max(points[i].from, from);
    if (begin >= to) continue;
    const virtual_time span = sign * (to - begin);
    row& charged = row_of(self, points[i]);
    charged.spent.spent[which] += span;
    account.energy += charged.power[which] * span.in_seconds();
    if (kind == activity::busy) account.busy += span;
    if (kind == activity::waiting) account.waiting += span;
    to = begin;
  }
}

void energy_meter::charge_up_to(core_id core, virtual_time to) {
  core_record& self = cores_[core.index()];
  if (to <= self.charged) return;  // behind a recharged change: already charged
  const virtual_time idle_from = self.idling ? std::clamp(self.idle_since, self.charged, to) : to;
  charge(core, activity::busy, self.charged, idle_from, 1);
  charge(core, self.kind, idle_from, to, 1);
  self.charged = to;
}

void energy_meter::idle(core_id core, activity kind, virtual_time since) {
  core_record& self = cores_[core.index()];
  self.idling = true;
  self.kind = kind;
  self.idle_since = since;
}

void energy_meter::resume(core_id core, virtual_time at) {
  charge_up_to(core, at);
  cores_[core.index()].idling = false;
}

energy_account energy_meter::switch_account(core_id core, virtual_time at, energy_account account) {
  charge_up_to(core, at);
  if (account.number >= accounts_.size()) accounts_.resize(account.number + std::size_t{1});
  return std::exchange(cores_[core.index()].account, account);
}

// --- Report -------------------------------------------------------------------------------------

units::joules energy_meter::used_until(virtual_time at) {
  units::joules sum = uncore_power(chip_) * at.in_seconds();
  for (int i = 0; i < chip_.cores(); ++i) {
    const core_id core{i};
    charge_up_to(core, at);
    for (const row& r : cores_[core.index()].rows) {
      for (std::size_t kind = 0; kind < activities; ++kind) {
        sum += r.power[kind] * r.spent.spent[kind].in_seconds();
      }
    }
    sum = sum - busy_energy(core, at, cores_[core.index()].charged);
  }
  return sum;
}

/// Returns the energy that a core uses while it is busy from one time to the other.
units::joules energy_meter::busy_energy(core_id core, virtual_time from, virtual_time to) const {
  units::joules sum{0};
  const auto& points = history(tile_of(core));
  for (std::size_t i = points.size(); i-- > 0 && from < to;) {
    const virtual_time begin = std::max(points[i].from, from);
    if (begin >= to) continue;
    const units::watts power =
        switching_power(chip_, activity::busy, points[i].voltage, points[i].clock) +
        leakage_power(chip_, points[i].voltage);
    sum += power * (to - begin).in_seconds();
    to = begin;
  }
  return sum;
}

usage_report energy_meter::report(virtual_time end) {
  usage_report made;
  made.islands.resize(static_cast<std::size_t>(island_count(chip_)));
  for (int i = 0; i < chip_.cores(); ++i) {
    charge_up_to(core_id{i}, end);
    core_usage& core = made.cores.emplace_back();
    for (const row& r : cores_[static_cast<std::size_t>(i)].rows) {
      core.points.push_back(r.spent);
      for (std::size_t kind = 0; kind < activities; ++kind) {
        core.energy += r.power[kind] * r.spent.spent[kind].in_seconds();
      }
      const auto& spent = r.spent.spent;
      core.busy += spent[static_cast<std::size_t>(activity::busy)];
      core.waiting += spent[static_cast<std::size_t>(activity::waiting)];
      core.halted += spent[static_cast<std::size_t>(activity::halted)];
      core.finished += spent[static_cast<std::size_t>(activity::finished)];
    }
    const int island = island_of_tile(chip_, tile_of(core_id{i}));
    made.islands[static_cast<std::size_t>(island)] += core.energy;
    made.total += core.energy;
  }
  made.accounts = accounts_;
  made.uncore = uncore_power(chip_) * end.in_seconds();
  made.total += made.uncore;
  return made;
}

}  // namespace creek::scc_backend
