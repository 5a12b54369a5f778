// SPDX-License-Identifier: Apache-2.0
// The clock that each tile runs at now.
#pragma once

#include <vector>

#include <creek/scc/chip.hpp>

#include "simulation/engine.hpp"

namespace creek::scc_backend {

/// The cores of a tile always have the same clock.
class tile_clocks {
 public:
  tile_clocks(const chip& on, const engine& simulation)
      : cores_per_tile_{on.cores_per_tile},
        simulation_{simulation},
        clocks_(static_cast<std::size_t>(on.cores()), on.clocks.core) {}

  clock_period of(core_id core) const noexcept { return clocks_[core.index()]; }
  /// Returns the clock of the running core.
  clock_period here() const noexcept { return of(simulation_.running()); }
  core_id first_core(int tile) const noexcept { return core_id{tile * cores_per_tile_}; }
  int tile_of(core_id core) const noexcept { return core.value / cores_per_tile_; }
  void set(int tile, clock_period clock) noexcept {
    for (int i = 0; i < cores_per_tile_; ++i)
      clocks_[first_core(tile).index() + std::size_t(i)] = clock;
  }

 private:
  int cores_per_tile_;
  const engine& simulation_;
  std::vector<clock_period> clocks_;
};

}  // namespace creek::scc_backend
