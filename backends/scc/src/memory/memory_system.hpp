// SPDX-License-Identifier: Apache-2.0
// All memory of the chip, and what every access to it passes through.
#pragma once

#include <memory>
#include <vector>

#include "bulk_transfers.hpp"
#include "checker/checker.hpp"
#include "chip/sync_registers.hpp"
#include "gap_allocator.hpp"
#include "load_store_unit.hpp"
#include "lookup_tables.hpp"

namespace creek::scc_backend {

/// The parts are built in the order in which they need each other, and serve one simulation.
class memory_system {
 public:
  /// `check`: a coherence checker follows every access.
  memory_system(const chip& on, engine& simulation, const tile_clocks& clocks, time_limits& limits,
                compute_time& computing, bool check)
      : bytes_{on},
        check_{check ? std::make_unique<checker>(on, bytes_.size(), simulation) : nullptr},
        network_{on, simulation, clocks, bytes_},
        traffic_{on, simulation, clocks, bytes_},
        watchers_{on, simulation, bytes_, limits},
        lines_{on, simulation, clocks, limits, bytes_, network_, traffic_, watchers_, check_.get()},
        registers_{on, simulation, clocks, limits, network_, check_.get()},
        tables_{on, simulation, clocks, limits, bytes_, network_},
        bulk_{on, simulation, limits, computing, bytes_.dram(), network_},
        heaps_(static_cast<std::size_t>(on.cores())) {}

  chip_memory& bytes() noexcept { return bytes_; }
  /// Returns the coherence checker, or nullptr if checking is off.
  checker* check() const noexcept { return check_.get(); }
  mesh_network& network() noexcept { return network_; }
  traffic_counters& traffic() noexcept { return traffic_; }
  line_watchers& watchers() noexcept { return watchers_; }
  load_store_unit& lines() noexcept { return lines_; }
  sync_registers& registers() noexcept { return registers_; }
  lookup_tables& tables() noexcept { return tables_; }
  bulk_transfers& bulk() noexcept { return bulk_; }
  /// Returns a core's record of what is allocated in `bytes` of shared memory.
  gap_allocator& heap(core_id core, std::size_t bytes) {
    auto& made = heaps_[core.index()];
    if (!made) made = std::make_unique<gap_allocator>(bytes);
    return *made;
  }

 private:
  chip_memory bytes_;
  std::unique_ptr<checker> check_;
  mesh_network network_;
  traffic_counters traffic_;
  line_watchers watchers_;
  load_store_unit lines_;
  sync_registers registers_;
  lookup_tables tables_;
  bulk_transfers bulk_;
  std::vector<std::unique_ptr<gap_allocator>> heaps_;  ///< per core, made at the first use
};

}  // namespace creek::scc_backend
