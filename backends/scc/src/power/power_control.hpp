// SPDX-License-Identifier: Apache-2.0
// Changes of clocks and voltages by the cores. A clock is changed by a core of its tile or, with a
// voltage, of its island; every other core there goes on at the new clock with its next operation:
// a stretch of computation, or an access under way, ends at the speed at which it began. A polling
// core that is parked is woken for one more look, so that its polling goes on in the new rhythm.
#pragma once

#include "chip/mesh_network.hpp"
#include "dvfs.hpp"
#include "memory/line_watchers.hpp"
#include "records/activity_log.hpp"

namespace creek::scc_backend {

/// No tile runs at a clock that its island's voltage does not allow. Changes take effect in the
/// order of virtual time; of the requests of one island the latest decides its clock.
class power_control {
 public:
  power_control(const chip& on, engine& simulation, tile_clocks& clocks, time_limits& limits,
                mesh_network& network, line_watchers& watchers, activity_log& log)
      : chip_{on},
        simulation_{simulation},
        clocks_{clocks},
        limits_{limits},
        mesh_{network},
        watchers_{watchers},
        log_{log},
        dvfs_{on} {}

  int island(core_id core) const noexcept { return island_of_tile(chip_, clocks_.tile_of(core)); }
  const dvfs& state() const noexcept { return dvfs_; }
  void set_frequency_divider(int divider);
  void set_island_divider(int divider);
  clock_period read_clock(int tile);
  power_request request(int divider);
  void wait(const power_request& requested);

 private:
  int tiles() const noexcept { return chip_.columns * chip_.rows; }
  void change_clock(int tile, virtual_time at, clock_period clock);
  void change_island_clock(int island, virtual_time at, clock_period clock);
  bool change_island_clock(const power_request& requested);
  void stop_until(virtual_time at);

  const chip& chip_;
  engine& simulation_;
  tile_clocks& clocks_;
  time_limits& limits_;
  mesh_network& mesh_;
  line_watchers& watchers_;
  activity_log& log_;
  dvfs dvfs_;
};

}  // namespace creek::scc_backend
