// SPDX-License-Identifier: Apache-2.0
// Clocks that a power policy sets on the simulated chip: each worker wishes a clock, a tile runs at
// the highest wish of its cores, and an island's voltage follows.
//
// A change of a divider takes effect at once; a wish for which the island's voltage is too low asks
// the regulator, and the tile runs as fast as is safe until a core of it looks again (settle())
// after the millisecond that this takes. The voltage is lowered once all cores of the island have
// wished the same lower clock for long enough to pay for two changes. If one of them runs and
// looks, the time until now counts, else the last duration: halted cores cannot look at the time.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include <creek/core/power_policy.hpp>

#include "chip/machine.hpp"

namespace creek::scc_backend {

class wished_clocks final : public clock_control {
 public:
  /// Controls the clocks of the chip for workers on its first cores. Clocks go up to the one that
  /// the chip has been set to, as those of mesh and memory go with it.
  wished_clocks(machine& on, unsigned workers);

  std::span<const units::hertz> clocks() const noexcept override { return clocks_; }
  int domain(unsigned worker) const noexcept override;
  /// Wishes a clock. Called on the worker's core: takes time there, and orders it.
  void wish(unsigned worker, std::size_t step) noexcept override;
  units::hertz clock(unsigned worker) const noexcept override;

  /// Gives the running core's tile the wished clock, if it can be had by now, and its island the
  /// lower voltage that has been enough for long. Costs nothing if both have it already.
  void settle() noexcept;

 private:
  struct island_state {
    bool low = false;          ///< all cores wish what a lower voltage allows
    virtual_time since;        ///< start of that period
    virtual_time last_time{};  ///< length of the last such period
  };

  int tile_of(core_id core) const noexcept;
  /// Returns the divider that the tile's cores wish: the lowest.
  int wished_by_tile(int tile) const noexcept;
  int divider_of(int tile) const noexcept;
  /// Returns the fastest divider not below `wished` that the island's voltage allows now.
  int safe_divider(int island, int wished) const noexcept;
  bool all_wish(int island, int divider) const noexcept;
  bool is_low_for_long(int island) const noexcept;
  void follow_voltage(core_id core);
  void show_clocks() noexcept;

  machine* chip_;
  std::vector<units::hertz> clocks_;  ///< lowest first
  std::vector<int> dividers_;         ///< divider of each clock
  std::vector<int> wishes_;  ///< divider per core; cores without a worker wish for the highest
  std::vector<island_state> islands_;
  std::unique_ptr<std::atomic<double>[]> shown_;  ///< per core, for other threads: hertz
};

}  // namespace creek::scc_backend
