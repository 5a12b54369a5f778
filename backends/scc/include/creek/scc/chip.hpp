// SPDX-License-Identifier: Apache-2.0
// What a chip without cache coherence is made of, and what its primitives cost. The default is
// Intel's Single-chip Cloud Computer; sources of its figures:
//   [M]   Mattson et al., The 48-core SCC processor: the programmer's view, SC 2010
//   [R11] Rotta, On efficient message passing on the Intel SCC, 3rd MARC symposium, 2011
//   [R12] Rotta, Prescher, Traue, Nolte, In-memory communication mechanisms for many-cores, 2012
//   [T]   van Tol et al., Efficient memory copy operations on the 48-core Intel SCC, 3rd MARC, 2011
//   [EAS] Intel, SCC External Architecture Specification: an access to DRAM takes 40 core cycles,
//         8 mesh cycles a hop and 46 memory cycles
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/core/units.hpp>
#include <creek/scc/power.hpp>

namespace creek::scc_backend {

/// A router of the mesh: column and row, from the lower left.
struct mesh_place {
  int x = 0;
  int y = 0;
};

/// The three kinds of clock that time on the chip is counted in.
struct chip_clocks {
  clock_period core;    ///< of every tile when a run begins
  clock_period mesh;    ///< routers
  clock_period memory;  ///< DRAM controllers
};

/// Costs of single operations. Counted in the clock that they scale with, so that they follow every
/// setting of the three. An access to a message-passing buffer (MPB) n hops away takes
///     overhead + mpb_access  core cycles  +  n * hop_round_trip  mesh cycles
/// ([R12], after Intel's manual: 45 core cycles + 8 n mesh cycles); the overheads are what that
/// rule leaves of the figures of Table I in [R12], nearest and farthest, at 800/1600 MHz.
struct chip_costs {
  cycles mpb_access{45};        ///< core cycles, there and back
  cycles hop_round_trip{8};     ///< mesh cycles a hop: a router takes 4 each way [R12]
  cycles uc_read{9};            ///< a word past the caches: 54-87 in all [R12]
  cycles uc_write{6};           ///< until acknowledged: 51-84 [R12]
  cycles uc_write_issue{5};     ///< until the core goes on [R12]
  cycles line_read{15};         ///< an L1 line of MPBT memory: 60-90 [R12]
  cycles line_write{32};        ///< a line from the write-combine buffer: 78-108 [R12]
  cycles line_write_issue{25};  ///< until the core goes on, for a whole line [R12]
  cycles l1_word{1};            ///< a word that lies in L1 [M]
  cycles invalidate{1};         ///< CL1INVMB [M]
  cycles mpb_service{6};        ///< an MPB serves one request in 5-6 core cycles [R12]
  cycles counter{240};          ///< atomic counter, nearest core; 240-270 in all [R12]
  cycles counter_service{33};   ///< all counters are served one request after the other [R12]
  cycles poll{4};               ///< compare and branch between two looks of a polling loop

  // Off-chip memory: dram_access + overhead core cycles, hops, dram_latency memory cycles [EAS].
  // The overheads are what that leaves of the throughputs of one core in [T] (533/800/800). How far
  // that core is from its controller [T] does not say: two hops, with which the sum over 48 cores
  // comes out as published too.
  cycles dram_access{40};         ///< core cycles [EAS]
  cycles dram_latency{46};        ///< memory cycles [EAS]
  cycles dram_word{25};           ///< a word past the caches: 20 MB/s [T]
  cycles dram_word_around{16};    ///< a cached word that misses, not allocated: 22 MB/s [T]
  cycles dram_line_read{71};      ///< 107 MB/s with its 8 words [T]
  cycles dram_line_write{55};     ///< from the write-combine buffer: 125 MB/s [T]
  cycles rank_service{25};        ///< memory cycles a request occupies a rank: 1.0 GB/s [T]
  cycles controller_service{14};  ///< memory cycles a request occupies a controller: 1.8 GB/s [T]

  // A line of private memory that lies in a cache, with the loop that walks over it.
  cycles l1_line{43};                   ///< read or written: 400 MB/s [T]
  cycles l2_line_read{60};              ///< 285 MB/s [T]
  cycles l2_line_write{147};            ///< write-back: 116 MB/s [T]
  cycles l2_line_combined{131};         ///< through the write-combine buffer: 130 MB/s [T]
  cycles l2_flush{1'000'000};           ///< by reading 256 KB of other lines [R12]
  cycles l2_flush_by_aliases{580'000};  ///< by reading aliases of message-passing memory [R12]

  cycles interrupt_entry{
      600};  ///< from the pin to the handler's first instruction, bare metal [R12]
};

/// Entries of a core's look-up table, and what each maps [M].
inline constexpr int lut_entries = 256;
inline constexpr std::size_t lut_block_bytes = std::size_t{16} << 20;

/// A mesh of tiles with some cores each. Core c sits on tile c / cores_per_tile; tile t at column
/// t % columns, row t / columns [M].
struct chip {
  std::string name = "scc-533";
  int columns = 6;
  int rows = 4;
  int cores_per_tile = 2;
  std::size_t mpb_bytes = 8192;  ///< a core's share of its tile's buffer [M]
  chip_clocks clocks;
  chip_costs costs;
  mesh_place counters_at{3, 0};  ///< router of the system interface, where the atomic counters are
  /// Routers that have a DRAM controller beside them: at the left and right edges [M].
  std::vector<mesh_place> controllers_at{{0, 0}, {5, 0}, {0, 2}, {5, 2}};
  int ranks_per_controller = 2;
  /// Off-chip memory that all cores share; its blocks of 16 MB lie at the controllers in turn [M].
  std::size_t shared_bytes = 4 * lut_block_bytes;
  /// Off-chip memory of each core that other cores can map; at the controller nearest to it, by
  /// default in one rank [T].
  std::size_t private_bytes = lut_block_bytes;
  std::size_t l1_bytes = std::size_t{16} << 10;   ///< data [M]
  std::size_t l2_bytes = std::size_t{256} << 10;  ///< [M]
  /// Core cycles within which the cores begin if a run has a seed; they never do in one cycle.
  cycles start_skew{1000};
  chip_power power;  ///< dividers, voltages, and what they cost

  /// The controller that serves the core's private memory: the nearest, of equals the first; on
  /// the SCC that of its quadrant.
  int controller_of(core_id core) const noexcept;

  int cores() const noexcept { return columns * rows * cores_per_tile; }
  mesh_place place(core_id core) const noexcept {
    const int tile = core.value / cores_per_tile;
    return {tile % columns, tile / columns};
  }
  /// Routers that XY routing passes from one place to the other; 0 on the same tile.
  static int hops(mesh_place from, mesh_place to) noexcept {
    const int dx = from.x < to.x ? to.x - from.x : from.x - to.x;
    const int dy = from.y < to.y ? to.y - from.y : from.y - to.y;
    return dx + dy;
  }

  /// Puts the controllers and the counters where they are on the SCC, as far as the mesh allows.
  void place_edges();

  /// Throws usage_error naming the first value that no chip can have.
  void validate() const;

  /// Core 533, mesh 800, memory 800 MHz: RCCE's default [M].
  static chip scc_533();
  /// Core 800, mesh 1600, memory 1066 MHz.
  static chip scc_800();
  /// A preset by name; an unknown one throws usage_error that lists them.
  static chip named(const std::string& name);
  /// As scc_533(), with the smallest mesh, as square as it can be, that has at least `cores`.
  static chip with_cores(int cores);
};

}  // namespace creek::scc_backend
