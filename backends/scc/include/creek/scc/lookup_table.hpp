// SPDX-License-Identifier: Apache-2.0
// Access to the look-up tables of the cores (lut.hpp), and to the blocks that they map.
#pragma once

#include <cstddef>
#include <cstdint>

#include <creek/core/mpm_ptr.hpp>
#include <creek/scc/core_view.hpp>
#include <creek/scc/lut.hpp>

namespace creek::scc_backend {

/// Every core may read and change every table; only mapped() is about the table of this core.
class lookup_table : public core_view {
 public:
  explicit lookup_table(const core_view& core) noexcept : core_view(core) {}

  /// Throws usage_error unless all `size` bytes are memory of the chip. Costs nothing.
  void require_memory(mpm_ptr<const std::byte> first, std::size_t size) const;
  /// Finds which 16 MB of off-chip memory a place lies in, and its offset there. Throws usage_error
  /// if in none.
  struct place_in_block {
    lut_entry block;
    std::size_t offset = 0;
  };
  [[nodiscard]] place_in_block location(mpm_ptr<const std::byte> of) const;

  /// Return an entry of a core's table; change it, effective when the write arrives.
  [[nodiscard]] lut_entry entry(core_id of, int index) const;
  void set_entry(core_id of, int index, const lut_entry& value) const;
  /// Returns the place that this core's table maps the address to. Ask again at each use: the table
  /// may change. Throws usage_error if there is no memory.
  [[nodiscard]] mpm_ptr<std::byte> mapped(std::uint32_t address) const;
  /// Returns the entry that maps the 16 MB `block` of a core's private memory, for any table.
  [[nodiscard]] lut_entry private_block(core_id core, int block = 0) const;
};

}  // namespace creek::scc_backend
