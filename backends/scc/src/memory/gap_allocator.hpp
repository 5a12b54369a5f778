// SPDX-License-Identifier: Apache-2.0
// First fit over a range of offsets, kept as a list of blocks: for ranges too long for one mark per
// line (symmetric_allocator). Belongs to one core; equal calls on all cores give equal offsets.
#pragma once

#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace creek::scc_backend {

class gap_allocator {
 public:
  gap_allocator() noexcept = default;
  explicit gap_allocator(std::size_t bytes) : blocks_{{0, bytes, false}} {}

  /// Returns the offset of `bytes`, rounded up to lines of 32 (at least one), or nothing if full.
  std::optional<std::size_t> allocate(std::size_t bytes) {
    if (bytes > (~std::size_t{0} >> 1)) return std::nullopt;
    const std::size_t wanted = bytes == 0 ? 32 : (bytes + 31) / 32 * 32;
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (block->used || block->bytes < wanted) continue;
      const std::size_t offset = block->offset;
      const std::size_t rest = block->bytes - wanted;
      *block = {offset, wanted, true};
      if (rest > 0) blocks_.insert(std::next(block), {offset + wanted, rest, false});
      return offset;
    }
    return std::nullopt;
  }

  /// Frees a block; returns false if no block in use begins there.
  [[nodiscard]] bool free(std::size_t offset) {
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (block->offset != offset || !block->used) continue;
      block->used = false;
      block = absorb_next(block);
      if (block != blocks_.begin() && !std::prev(block)->used) absorb_next(std::prev(block));
      return true;
    }
    return false;
  }

 private:
  struct range {
    std::size_t offset;
    std::size_t bytes;
    bool used;
  };
  using place = std::vector<range>::iterator;
  place absorb_next(place gap) {
    const place next = std::next(gap);
    if (next == blocks_.end() || next->used) return gap;
    gap->bytes += next->bytes;
    return std::prev(blocks_.erase(next));
  }

  std::vector<range> blocks_;
};

}  // namespace creek::scc_backend
