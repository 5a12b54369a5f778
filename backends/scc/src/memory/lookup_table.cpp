// SPDX-License-Identifier: Apache-2.0
#include <creek/scc/lookup_table.hpp>

#include <string>

#include <creek/core/error.hpp>

#include "chip/machine.hpp"

namespace creek::scc_backend {

void lookup_table::require_memory(mpm_ptr<const std::byte> first, std::size_t size) const {
  if (size > 0) (void)on().memory().bytes().offset_of(first.address(), size);
}
lookup_table::place_in_block lookup_table::location(mpm_ptr<const std::byte> of) const {
  const std::size_t at = on().memory().bytes().offset_of(of.address());
  const auto first = static_cast<std::size_t>(on().memory().bytes().off_chip_bytes() -
                                              on().memory().bytes().mpb(core_id{0}));
  if (at < first) throw usage_error("simulated chip: message-passing memory belongs to no block");
  return {on().memory().bytes().dram().entry_for(at - first), (at - first) % lut_block_bytes};
}
lut_entry lookup_table::entry(core_id of, int index) const {
  return enter()->memory().tables().entry(of, index);
}
void lookup_table::set_entry(core_id of, int index, const lut_entry& value) const {
  enter()->memory().tables().set_entry(of, index, value);
}
mpm_ptr<std::byte> lookup_table::mapped(std::uint32_t address) const {
  return mpm_ptr{enter()->memory().tables().mapped(address)};
}
lut_entry lookup_table::private_block(core_id core, int block) const {
  const std::size_t offset = static_cast<std::size_t>(block) * lut_block_bytes;
  if (core.value < 0 || core.value >= cores() || block < 0 ||
      offset >= on().description().private_bytes) {
    throw usage_error("simulated chip: core " + std::to_string(core.value) +
                      " has no private block " + std::to_string(block));
  }
  const off_chip& layout = on().memory().bytes().dram();
  return layout.entry_for(layout.private_offset(core) + offset);
}

}  // namespace creek::scc_backend
