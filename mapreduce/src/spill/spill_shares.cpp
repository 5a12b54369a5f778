// SPDX-License-Identifier: Apache-2.0
// Division of a memory limit among the workers, and errors for data that does not fit into it.
#include <creek/mapreduce/spill/spill_shares.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <creek/core/error.hpp>

namespace creek::mapreduce {

spill_shares::spill_shares(const memory_limit& given, std::size_t workers) noexcept
    : limit(given.bytes),
      worker(given.bytes / workers),
      buffer(std::clamp<std::size_t>(worker / 32, 4096, std::size_t{1} << 20)),
      largest(std::min<std::size_t>(worker / 8, std::size_t{1} << 30)),
      // Blocks have at least some ten kilobytes, so that their index is small in comparison.
      bits(std::clamp(static_cast<int>(std::bit_width(worker >> 15)) - 1, 2, most_bits)) {}

int spill_shares::bits_for(std::uint64_t bytes, std::size_t room) const noexcept {
  return std::clamp(static_cast<int>(std::bit_width(bytes / room)) + 1, 2, bits);
}

namespace detail {

int differing_from(const spill_blocks& blocks, int base) noexcept {
  std::uint32_t differing = 0;
  for (const spill_block& block : blocks) {
    differing |= block.differing | (block.first_hash ^ blocks.front().first_hash);
  }
  return std::min(64, base + (differing != 0 ? std::countl_zero(differing) : 32));
}

void refuse_heavy_key(std::uint64_t values, std::uint64_t bytes, std::size_t limit) {
  throw error(ENOMEM, fmt::format("mapreduce: {} values of one key, {} bytes, are too many for a "
                                  "memory limit of {} bytes",
                                  values, bytes, limit));
}

void refuse_pair(std::size_t limit) {
  throw error(ENOMEM, fmt::format("mapreduce: a pair is too large for a worker's share of a memory "
                                  "limit of {} bytes",
                                  limit));
}

}  // namespace detail
}  // namespace creek::mapreduce
