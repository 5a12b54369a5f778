// SPDX-License-Identifier: Apache-2.0
// The look-up tables, which map a core's addresses to memory of the chip.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include <creek/scc/lut.hpp>

#include "chip/mesh_network.hpp"
#include "simulation/time_limits.hpp"

namespace creek::scc_backend {

/// Every entry maps nothing or memory that the chip has.
class lookup_tables {
 public:
  lookup_tables(const chip& on, engine& simulation, const tile_clocks& clocks, time_limits& limits,
                chip_memory& bytes, mesh_network& network)
      : chip_{on},
        simulation_{simulation},
        clocks_{clocks},
        limits_{limits},
        bytes_{bytes},
        mesh_{network},
        tables_(static_cast<std::size_t>(on.cores())) {}

  lut_entry entry(core_id of, int entry);
  void set_entry(core_id of, int entry, const lut_entry& value);
  /// Returns the byte that the running core's table maps the address to.
  std::byte* mapped(std::uint32_t address);

 private:
  using table = std::array<lut_entry, lut_entries>;
  lut_entry entry_now(core_id of, int entry) const;

  const chip& chip_;
  engine& simulation_;
  const tile_clocks& clocks_;
  time_limits& limits_;
  chip_memory& bytes_;
  mesh_network& mesh_;
  std::vector<std::unique_ptr<table>> tables_;  ///< null: never changed
};

}  // namespace creek::scc_backend
