// SPDX-License-Identifier: Apache-2.0
// The parts of a chip without cache coherence, and the costs of its primitives. The default is
// Intel's Single-chip Cloud Computer: docs/scc/machine.md. Tags that tools print for its sources,
// which docs/references.md lists:
//   [M]   [Mattson 2010]
//   [R12] [Rotta 2012]
//   [T]   [van Tol 2011]
//   [EAS] [Intel EAS]: an access to DRAM takes 40 core cycles, 8 mesh cycles per hop and 46 memory
//         cycles
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/core/units.hpp>
#include <creek/scc/power.hpp>
#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

/// A router of the mesh: column and row, from the lower left.
struct mesh_place {
  int x = 0;
  int y = 0;
};

/// The three kinds of clock that time on the chip is counted in.
struct chip_clocks {
  clock_period core;    ///< clock of every tile when a run begins
  clock_period mesh;    ///< routers
  clock_period memory;  ///< DRAM controllers
};

/// Costs of single operations. Counted in the clock that they scale with, so that they follow every
/// setting of the three. An access to a message-passing buffer (MPB) n hops away takes
///     overhead + mpb_access  core cycles  +  n * hop_round_trip  mesh cycles
/// ([Rotta 2012], after [Intel EAS]: 45 core cycles + 8 n mesh cycles). Overheads are estimates:
/// what that rule leaves of [Rotta 2012], Table I, nearest and farthest, at 800/1600 MHz.
struct chip_costs {
  cycles mpb_access{45};        ///< core cycles, there and back [Rotta 2012]
  cycles hop_round_trip{8};     ///< mesh cycles per hop: a router takes 4 each way [Rotta 2012]
  cycles uc_read{9};            ///< a word past the caches: 54-87 in all [Rotta 2012]
  cycles uc_write{6};           ///< until acknowledged: 51-84 [Rotta 2012]
  cycles uc_write_issue{5};     ///< until the core goes on [Rotta 2012]
  cycles line_read{15};         ///< an L1 line of MPBT memory: 60-90 [Rotta 2012]
  cycles line_write{32};        ///< a line from the write-combine buffer: 78-108 [Rotta 2012]
  cycles line_write_issue{25};  ///< until the core goes on, for a whole line [Rotta 2012]
  cycles l1_word{1};            ///< a word that lies in L1 [Mattson 2010]
  cycles invalidate{1};         ///< CL1INVMB [Mattson 2010]
  cycles mpb_service{6};        ///< an MPB serves one request in 5-6 core cycles [Rotta 2012]
  cycles counter{240};          ///< atomic counter, nearest core; 240-270 in all [Rotta 2012]
  cycles counter_service{33};   ///< all counters together serve one request at a time [Rotta 2012]
  cycles poll{4};               ///< estimate: compare and branch between two looks of a poll

  // Off-chip memory: dram_access + overhead core cycles, hops, dram_latency memory cycles
  // [Intel EAS]. The overheads are estimates: the rest of the throughputs of one core in
  // [van Tol 2011] (533/800/800). The distance of that core from its controller is an assumption:
  // two hops, with which the sum over 48 cores comes out as published, too.
  cycles dram_access{40};         ///< core cycles [Intel EAS]
  cycles dram_latency{46};        ///< memory cycles [Intel EAS]
  cycles dram_word{25};           ///< a word past the caches: 20 MB/s [van Tol 2011]
  cycles dram_word_around{16};    ///< a cached write that misses: 22 MB/s [van Tol 2011]
  cycles dram_line_read{71};      ///< 107 MB/s with its 8 words [van Tol 2011]
  cycles dram_line_write{55};     ///< from the write-combine buffer: 125 MB/s [van Tol 2011]
  cycles rank_service{25};        ///< memory cycles of a rank per request: 1.0 GB/s [van Tol 2011]
  cycles controller_service{14};  ///< memory cycles of a controller: 1.8 GB/s [van Tol 2011]

  // A line of private memory that lies in a cache, with the loop that walks over it.
  cycles l1_line{43};                   ///< read or written: 400 MB/s [van Tol 2011]
  cycles l2_line_read{60};              ///< 285 MB/s [van Tol 2011]
  cycles l2_line_write{147};            ///< write-back: 116 MB/s [van Tol 2011]
  cycles l2_line_combined{131};         ///< by the write-combine buffer: 130 MB/s [van Tol 2011]
  cycles l2_flush{1'000'000};           ///< by reading 256 KB of other lines [Rotta 2012]
  cycles l2_flush_by_aliases{580'000};  ///< by reading aliases of the buffers [Rotta 2012]

  cycles interrupt_entry{
      600};  ///< from the pin to the handler's first instruction, bare metal [Rotta 2012]
};

/// Entries of a core's look-up table, and what each maps [Mattson 2010].
inline constexpr int lut_entries = 256;
inline constexpr std::size_t lut_block_bytes = std::size_t{16} << 20;

/// A mesh of tiles with some cores each. Core c sits on tile c / cores_per_tile; tile t at column
/// t % columns, row t / columns [Mattson 2010].
struct chip {
  std::string name = "scc-533";
  int columns = 6;
  int rows = 4;
  int cores_per_tile = 2;
  std::size_t mpb_bytes = 8192;  ///< a core's share of its tile's buffer [Mattson 2010]
  chip_clocks clocks;
  chip_costs costs;
  mesh_place counters_at{3, 0};  ///< router of the system interface, with the counters [Intel EAS]
  /// Routers with a DRAM controller beside them: left and right [Mattson 2010], rows [Intel EAS].
  std::vector<mesh_place> controllers_at{{0, 0}, {5, 0}, {0, 2}, {5, 2}};
  int ranks_per_controller = 2;  ///< an assumption: no source says
  /// Off-chip memory that all cores share; blocks of 16 MB at the controllers in turn [Intel EAS].
  std::size_t shared_bytes = 4 * lut_block_bytes;
  /// Off-chip memory of each core that other cores can map; at the controller nearest to it, by
  /// default in one rank [van Tol 2011].
  std::size_t private_bytes = lut_block_bytes;
  std::size_t l1_bytes = std::size_t{16} << 10;   ///< data [Mattson 2010]
  std::size_t l2_bytes = std::size_t{256} << 10;  ///< [Mattson 2010]
  /// Core cycles within which the cores begin if a run has a seed: an assumption of this model.
  cycles start_skew{1000};
  chip_power power;  ///< dividers, voltages, and what they cost

  /// Returns the controller that serves the core's private memory: the nearest, the first of
  /// equals; on the SCC that of its quadrant.
  int controller_of(core_id core) const noexcept;

  int cores() const noexcept { return columns * rows * cores_per_tile; }
  mesh_place place(core_id core) const noexcept {
    const int tile = core.value / cores_per_tile;
    return {tile % columns, tile / columns};
  }
  /// Returns the number of hops by XY routing from one place to the other; 0 on the same tile.
  static int hops(mesh_place from, mesh_place to) noexcept {
    const int dx = from.x < to.x ? to.x - from.x : from.x - to.x;
    const int dy = from.y < to.y ? to.y - from.y : from.y - to.y;
    return dx + dy;
  }

  /// Puts the controllers and the counters where the SCC has them, as far as the mesh allows.
  void place_edges();

  /// Throws usage_error naming the first value that no chip can have.
  void validate() const;

  /// Returns core 533, mesh 800, memory 800 MHz: RCCE's default [Mattson 2010].
  static chip scc_533();
  /// Returns core 800, mesh 1600, memory 1066 MHz: the setting of [Rotta 2012], Table I.
  static chip scc_800();
  /// Returns a preset by name. Throws usage_error that lists the presets if there is none.
  static chip named(const std::string& name);
  /// Returns scc_533() with the smallest mesh, as square as it can be, of at least `cores` cores.
  static chip with_cores(int cores);
};

}  // namespace creek::scc_backend
