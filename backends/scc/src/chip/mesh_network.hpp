// SPDX-License-Identifier: Apache-2.0
// Requests over the mesh to the ports that serve them in turn.
#pragma once

#include <vector>

#include "memory/chip_memory.hpp"
#include "simulation/engine.hpp"
#include "tile_clocks.hpp"

namespace creek::scc_backend {

/// A request on its way: when it is served, and when its sender has the answer.
struct passage {
  virtual_time start;
  virtual_time arrival;
  virtual_time served;
  virtual_time answered;
};

/// Throws usage_error unless the chip has such a core.
void require_core(const chip& on, core_id id);

/// A core has one request under way: none leaves before the last one is acknowledged. A port
/// serves requests first come, first served. The caller carries a request out at `served`, when
/// the cores are ordered at its arrival.
class mesh_network {
 public:
  mesh_network(const chip& on, engine& simulation, const tile_clocks& clocks, chip_memory& bytes);

  /// Send a request of the running core to a tile's buffer or registers, to off-chip memory, or to
  /// whichever the offset lies in. Costs are core cycles beyond those of every such access. Several
  /// requests, one after the other, are simulated as one.
  passage to_tile(core_id to, cycles overhead, std::int64_t requests = 1);
  passage to_dram(const off_chip::block& to, cycles overhead, std::int64_t requests = 1);
  passage to_memory(std::size_t at, cycles in_mpb, cycles in_dram, std::int64_t requests = 1);
  passage to_counter();
  /// Sends a request to the system interface, which serves all at once.
  passage to_system_interface(cycles core_cycles);

  /// Returns when the running core's last request has its answer: after all it has done so far.
  virtual_time acknowledged() const noexcept {
    return acknowledged_[simulation_.running().index()];
  }
  /// Stops the running core until `at`, by when all other cores have come that far.
  void stop_until(virtual_time at);

 private:
  /// Sends a request that takes `there_and_back` if it need not wait for its turn;
  /// `begin(arrival)` returns when its turn comes.
  template <class Begin>
  passage send(virtual_time there_and_back, Begin begin);
  virtual_time time_to(mesh_place to) const noexcept;

  const chip& chip_;
  engine& simulation_;
  const tile_clocks& clocks_;
  chip_memory& bytes_;
  std::vector<server> ports_;  ///< per tile: its MPB's
  server counter_port_;
  std::vector<virtual_time> acknowledged_;  ///< per core: when its last request is
};

}  // namespace creek::scc_backend
