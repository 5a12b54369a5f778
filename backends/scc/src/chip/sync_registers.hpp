// SPDX-License-Identifier: Apache-2.0
// Registers by which cores synchronise: test-and-set registers, one per core, and atomic counters.
#pragma once

#include <vector>

#include <creek/core/memory.hpp>

#include "mesh_network.hpp"
#include "simulation/time_limits.hpp"

namespace creek::scc_backend {

class checker;

/// A register belongs to at most one core, from the access that won it until it is cleared.
/// Accesses take effect when the request is served.
class sync_registers {
 public:
  sync_registers(const chip& on, engine& simulation, const tile_clocks& clocks, time_limits& limits,
                 mesh_network& network, checker* check);

  bool test_and_set(core_id id);
  void clear(core_id id);
  int counters() const noexcept { return static_cast<int>(counters_.size()); }
  word fetch_increment(counter_id id);
  void set_counter(counter_id id, word value);

 private:
  void require_counter(counter_id id) const;

  const chip& chip_;
  engine& simulation_;
  const tile_clocks& clocks_;
  time_limits& limits_;
  mesh_network& mesh_;
  checker* check_;
  std::vector<std::uint8_t> taken_;  ///< per core: its test-and-set register
  std::vector<word> counters_;
};

}  // namespace creek::scc_backend
