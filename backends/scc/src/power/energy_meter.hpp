// SPDX-License-Identifier: Apache-2.0
// Records each core's activity, clock and voltage, and its energy, exactly in virtual time. Cores
// run ahead of each other, and a voltage changes at a time that is known before. So the operating
// points of a tile are a history, and a core's time is charged against it piece by piece. A change
// that comes late, in the past of a core that has run ahead, takes back that core's charges from
// there on and charges them anew.
#pragma once

#include <cstdint>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/scc/chip.hpp>
#include <creek/scc/usage.hpp>

namespace creek::scc_backend {

/// Valid from `from` on, until the next point of the same tile.
struct operating_point {
  virtual_time from;
  units::volts voltage;
  clock_period clock;
};

class energy_meter {
 public:
  /// Starts with all cores halted from time zero, at the chip's clock and the lowest safe voltage.
  explicit energy_meter(const chip& of);

  // --- What cores do; times of one core never go back -------------------------------------------
  /// Makes the core idle from `since` until it resumes.
  void idle(core_id core, activity kind, virtual_time since);
  void resume(core_id core, virtual_time at);
  /// Charges the core's energy to `account` from `at` on; returns the previous account.
  energy_account switch_account(core_id core, virtual_time at, energy_account account);

  // --- Operating points -------------------------------------------------------------------------
  /// Call it in the order of virtual time.
  void change_clock(int tile, virtual_time at, clock_period clock);
  /// Call it in the order of a tile's times, which may lie in the future.
  void change_voltage(int tile, virtual_time at, units::volts voltage);
  [[nodiscard]] const std::vector<operating_point>& history(int tile) const noexcept {
    return tiles_[static_cast<std::size_t>(tile)];
  }
  [[nodiscard]] const operating_point& point_at(int tile, virtual_time at) const noexcept;

  /// Returns the whole chip's energy from zero to `at`, when no core can do anything before `at`
  /// any more; some may have run further, busy.
  [[nodiscard]] units::joules used_until(virtual_time at);

  /// Returns everything from zero to `end`, which must not lie before any core's actions. May be
  /// called again later.
  [[nodiscard]] usage_report report(virtual_time end);

 private:
  struct row {
    residency spent;
    std::array<units::watts, activities> power;
  };
  struct core_record {
    virtual_time charged;     ///< all time before is in the rows
    virtual_time idle_since;  ///< if `idling`; busy before
    activity kind = activity::halted;
    bool idling = true;
    energy_account account;
    std::vector<row> rows;
    std::size_t newest = 0;  ///< the row used last
  };

  int tile_of(core_id core) const noexcept { return core.value / chip_.cores_per_tile; }
  row& row_of(core_record& core, const operating_point& point);
  void charge(core_id core, activity kind, virtual_time from, virtual_time to, int sign);
  void charge_up_to(core_id core, virtual_time to);
  units::joules busy_energy(core_id core, virtual_time from, virtual_time to) const;
  template <class Change>
  void change(int tile, virtual_time at, Change apply);

  const chip& chip_;
  std::vector<std::vector<operating_point>> tiles_;
  std::vector<core_record> cores_;
  std::vector<account_usage> accounts_;
};

}  // namespace creek::scc_backend
