// SPDX-License-Identifier: Apache-2.0
#include "lookup_tables.hpp"

#include <string>

#include <creek/core/error.hpp>

namespace creek::scc_backend {

namespace {

void require_entry(int entry) {
  if (entry < 0 || entry >= lut_entries) {
    throw usage_error("simulated chip: a look-up table has entries 0 to 255, not " +
                      std::to_string(entry));
  }
}

}  // namespace

lut_entry lookup_tables::entry_now(core_id of, int entry) const {
  const auto& changed = tables_[of.index()];
  return changed ? (*changed)[static_cast<std::size_t>(entry)]
                 : bytes_.dram().initial_entry(chip_, of, entry);
}

lut_entry lookup_tables::entry(core_id of, int entry) {
  require_core(chip_, of);
  require_entry(entry);
  const passage way = mesh_.to_tile(of, chip_.costs.uc_read);
  simulation_.set_clock(way.answered);
  return entry_now(of, entry);
}

void lookup_tables::set_entry(core_id of, int entry, const lut_entry& value) {
  require_core(chip_, of);
  require_entry(entry);
  const bool tile = value.to == lut_entry::target::mpb && value.destination >= 0 &&
                    value.destination < chip_.columns * chip_.rows;
  if (value.to != lut_entry::target::none && !tile && !bytes_.dram().offset_of(value)) {
    throw usage_error("simulated chip: entry " + std::to_string(entry) +
                      " of a look-up table cannot map addresses without memory");
  }
  limits_.note_progress();
  simulation_.advance(chip_.costs.uc_write_issue * clocks_.here());
  const passage way = mesh_.to_tile(of, chip_.costs.uc_write);
  simulation_.set_clock(way.start);
  auto& changed = tables_[of.index()];
  if (!changed) {
    changed = std::make_unique<table>();
    for (int i = 0; i < lut_entries; ++i) {
      (*changed)[static_cast<std::size_t>(i)] = bytes_.dram().initial_entry(chip_, of, i);
    }
  }
  (*changed)[static_cast<std::size_t>(entry)] = value;
}

std::byte* lookup_tables::mapped(std::uint32_t address) {
  simulation_.order_at(simulation_.now());  // others may have changed the table
  const auto number = static_cast<int>(address / lut_block_bytes);
  const std::size_t within = address % lut_block_bytes;
  const lut_entry entry = entry_now(simulation_.running(), number);
  if (const auto block = bytes_.dram().offset_of(entry))
    return bytes_.off_chip_bytes() + *block + within;
  const std::size_t tile_bytes = static_cast<std::size_t>(chip_.cores_per_tile) * chip_.mpb_bytes;
  if (entry.to == lut_entry::target::mpb && within < tile_bytes) {
    return bytes_.at(static_cast<std::size_t>(entry.destination) * tile_bytes + within);
  }
  throw usage_error("simulated chip: core " + std::to_string(simulation_.running().value) +
                    " has no memory at address " + std::to_string(address));
}

}  // namespace creek::scc_backend
