// SPDX-License-Identifier: Apache-2.0
// How much the cores read from and write to message-passing memory.
#pragma once

#include <memory>
#include <vector>

#include <creek/scc/usage.hpp>

#include "memory/chip_memory.hpp"
#include "records/heatmap.hpp"
#include "simulation/engine.hpp"
#include "tile_clocks.hpp"

namespace creek::scc_backend {

/// Requests count for the core that sends them, bytes for the core that owns the memory. Off-chip
/// memory is not counted.
class traffic_counters {
 public:
  traffic_counters(const chip& on, const engine& simulation, const tile_clocks& tiles,
                   const chip_memory& bytes)
      : simulation_{simulation},
        tiles_{tiles},
        bytes_{bytes},
        cores_(static_cast<std::size_t>(on.cores())) {}

  /// Also counts bytes from tile to tile from now on, for `tiles` tiles.
  void count_flows(int tiles) { flows_ = std::make_unique<tile_flows>(tiles); }
  /// Returns the bytes from tile to tile, or null if they are not counted.
  const tile_flows* flows() const noexcept { return flows_.get(); }

  /// Count a request of the running core.
  void read(std::size_t at, std::size_t size) noexcept {
    if (!bytes_.is_mpb(at)) return;
    ++cores_[simulation_.running().index()].reads;
    cores_[bytes_.owner(at).index()].bytes_out += size;
    if (flows_) [[unlikely]]
      flows_->add(tiles_.tile_of(bytes_.owner(at)), tiles_.tile_of(simulation_.running()), size);
  }
  void written(std::size_t at, std::size_t size) noexcept {
    if (!bytes_.is_mpb(at)) return;
    ++cores_[simulation_.running().index()].writes;
    cores_[bytes_.owner(at).index()].bytes_in += size;
    if (flows_) [[unlikely]]
      flows_->add(tiles_.tile_of(simulation_.running()), tiles_.tile_of(bytes_.owner(at)), size);
  }

  void report(std::vector<core_usage>& cores) const noexcept {
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      cores[i].mpb_reads = cores_[i].reads;
      cores[i].mpb_writes = cores_[i].writes;
      cores[i].bytes_out = cores_[i].bytes_out;
      cores[i].bytes_in = cores_[i].bytes_in;
    }
  }

 private:
  struct core_traffic {
    std::uint64_t reads = 0, writes = 0;
    std::uint64_t bytes_out = 0, bytes_in = 0;
  };

  const engine& simulation_;
  const tile_clocks& tiles_;
  const chip_memory& bytes_;
  std::vector<core_traffic> cores_;
  std::unique_ptr<tile_flows> flows_;
};

}  // namespace creek::scc_backend
