// SPDX-License-Identifier: Apache-2.0
// Division of a memory limit among the workers, and errors for data that does not fit into it.
#pragma once

#include <creek/mapreduce/memory_limit.hpp>
#include <creek/mapreduce/spill/spill_file.hpp>
#include <cstddef>
#include <cstdint>

namespace creek::mapreduce {

/// Each worker's shares of the memory limit.
struct spill_shares {
  std::size_t limit;    ///< bytes, for all workers
  std::size_t worker;   ///< bytes, per worker
  std::size_t buffer;   ///< bytes written at once
  std::size_t largest;  ///< maximum bytes of a pair
  int bits;             ///< bits of the hash that select the partition

  static constexpr int most_bits = 8;

  spill_shares(const memory_limit& given, std::size_t workers) noexcept;

  /// Returns the bits needed to split `bytes` bytes into parts of at most `room` bytes.
  [[nodiscard]] int bits_for(std::uint64_t bytes, std::size_t room) const noexcept;
};

namespace detail {

/// Returns the first bit of the hash, from `base` on, in which keys of these blocks differ, or at
/// least a bit after `base` up to which they agree; 64 if they agree in all bits. The blocks'
/// hashes begin at `base`.
[[nodiscard]] int differing_from(const spill_blocks& blocks, int base) noexcept;

/// Throws creek::error (ENOMEM) for a key that cannot be partitioned any further.
[[noreturn]] void refuse_heavy_key(std::uint64_t values, std::uint64_t bytes, std::size_t limit);
/// Throws creek::error (ENOMEM) for a single pair that does not fit.
[[noreturn]] void refuse_pair(std::size_t limit);

}  // namespace detail

}  // namespace creek::mapreduce
