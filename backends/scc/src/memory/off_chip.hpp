// SPDX-License-Identifier: Apache-2.0
// Off-chip memory: the controller and rank of a byte, and when they serve a request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <creek/core/core_id.hpp>
#include <creek/scc/chip.hpp>
#include <creek/scc/lut.hpp>
#include <creek/scc/virtual_time.hpp>

namespace creek::scc_backend {

/// Serves one request at a time, first come first served.
struct server {
  virtual_time free_at;
  /// Returns when a request that arrives at `arrival` is begun.
  virtual_time begin(virtual_time arrival, virtual_time service) noexcept {
    const virtual_time start = std::max(arrival, free_at);
    free_at = start + service;
    return start;
  }
};

/// Offsets count from the first off-chip byte: shared memory, then each core's private memory.
/// Each 16 MB lie at one controller, those of one controller in its ranks in turn.
class off_chip {
 public:
  explicit off_chip(const chip& description);

  struct block {
    int controller = 0;
    int rank = 0;
    std::uint64_t address = 0;  ///< of its first byte, at the controller
  };
  std::size_t bytes() const noexcept { return blocks_.size() * lut_block_bytes; }
  const block& block_at(std::size_t offset) const noexcept {
    return blocks_[offset / lut_block_bytes];
  }
  /// Returns where the private memory lies that a core's programs use without naming it.
  const block& home_of(core_id core) const noexcept { return homes_[core.index()]; }
  /// Returns where block `number` lies, of the blocks that programs only number.
  block place_of(std::uint64_t number) const noexcept;
  std::size_t private_offset(core_id core) const noexcept {
    return shared_bytes_ + core.index() * private_bytes_;
  }

  lut_entry entry_for(std::size_t offset) const noexcept {
    const block& at = block_at(offset);
    return {lut_entry::target::dram, at.controller, at.address};
  }
  /// Returns the offset of the 16 MB that an entry maps; nothing if there is no such memory.
  std::optional<std::size_t> offset_of(const lut_entry& entry) const noexcept;
  lut_entry initial_entry(const chip& description, core_id core, int entry) const noexcept;

  /// Returns when `requests` that arrive together begin: through their controller, then their rank.
  virtual_time serve(const block& at, virtual_time arrival, std::int64_t requests,
                     virtual_time controller_service, virtual_time rank_service) noexcept {
    const virtual_time passed = controllers_[static_cast<std::size_t>(at.controller)].begin(
        arrival, requests * controller_service);
    return ranks_[static_cast<std::size_t>(at.controller * ranks_each_ + at.rank)].begin(
        passed, requests * rank_service);
  }

 private:
  block next_block(int controller);

  std::size_t shared_bytes_;
  std::size_t private_bytes_;
  int ranks_each_;
  std::vector<block> blocks_;
  std::vector<block> homes_;
  std::vector<std::vector<std::size_t>> offsets_;  ///< by controller and number of the block there
  std::vector<server> controllers_;
  std::vector<server> ranks_;
};

}  // namespace creek::scc_backend
