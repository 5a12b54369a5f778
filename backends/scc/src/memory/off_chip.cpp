// SPDX-License-Identifier: Apache-2.0
#include "off_chip.hpp"

#include "simulation/split_mix.hpp"

namespace creek::scc_backend {

off_chip::off_chip(const chip& description)
    : shared_bytes_{description.shared_bytes},
      private_bytes_{description.private_bytes},
      ranks_each_{description.ranks_per_controller},
      offsets_(description.controllers_at.size()),
      controllers_(description.controllers_at.size()),
      ranks_(description.controllers_at.size() *
             static_cast<std::size_t>(description.ranks_per_controller)) {
  const std::size_t shared = shared_bytes_ / lut_block_bytes;
  for (std::size_t i = 0; i < shared; ++i) {
    blocks_.push_back(next_block(static_cast<int>(i % controllers_.size())));
  }
  std::vector<int> served(controllers_.size());
  for (int i = 0; i < description.cores(); ++i) {
    const int controller = description.controller_of(core_id{i});
    const auto at = static_cast<std::size_t>(controller);
    const int before = static_cast<int>(shared / controllers_.size()) + served[at]++;
    homes_.push_back({controller, before % ranks_each_, 0});
    for (std::size_t j = 0; j < private_bytes_ / lut_block_bytes; ++j) {
      blocks_.push_back(next_block(controller));
      blocks_.back().rank = homes_.back().rank;
    }
  }
}

off_chip::block off_chip::next_block(int controller) {
  std::vector<std::size_t>& there = offsets_[static_cast<std::size_t>(controller)];
  const block made{controller, static_cast<int>(there.size()) % ranks_each_,
                   there.size() * lut_block_bytes};
  there.push_back(blocks_.size() * lut_block_bytes);
  return made;
}

std::optional<std::size_t> off_chip::offset_of(const lut_entry& entry) const noexcept {
  if (entry.to != lut_entry::target::dram || entry.destination < 0 ||
      static_cast<std::size_t>(entry.destination) >= offsets_.size() ||
      entry.address % lut_block_bytes != 0) {
    return std::nullopt;
  }
  const auto& there = offsets_[static_cast<std::size_t>(entry.destination)];
  const std::uint64_t number = entry.address / lut_block_bytes;
  if (number >= there.size()) return std::nullopt;
  return there[number];
}

lut_entry off_chip::initial_entry(const chip& description, core_id core, int entry) const noexcept {
  const auto bytes_from = [](int first, int at) {
    return static_cast<std::size_t>(at - first) * lut_block_bytes;
  };
  const int tiles = description.columns * description.rows;
  if (entry < first_shared_entry) {
    const std::size_t offset = bytes_from(0, entry);
    return offset < private_bytes_ ? entry_for(private_offset(core) + offset) : lut_entry{};
  }
  if (entry < first_mpb_entry) {
    const std::size_t offset = bytes_from(first_shared_entry, entry);
    return offset < shared_bytes_ ? entry_for(offset) : lut_entry{};
  }
  if (entry == own_mpb_entry) {
    return {lut_entry::target::mpb, core.value / description.cores_per_tile, 0};
  }
  const int tile = entry - first_mpb_entry;
  if (entry < own_mpb_entry && tile < tiles) return {lut_entry::target::mpb, tile, 0};
  return {};
}

/// Spreads blocks over controllers and ranks by a hash: in turn, the blocks of a row of a matrix
/// of, say, 16 x 16 blocks would all lie at one.
off_chip::block off_chip::place_of(std::uint64_t number) const noexcept {
  const std::uint64_t drawn = split_mix(0, number) >> 32;
  const auto controllers = static_cast<std::uint64_t>(controllers_.size());
  const auto ranks = static_cast<std::uint64_t>(ranks_each_);
  return {static_cast<int>(drawn % controllers), static_cast<int>(drawn / controllers % ranks), 0};
}

}  // namespace creek::scc_backend
