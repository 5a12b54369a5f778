// SPDX-License-Identifier: Apache-2.0
// How a memory limit is shared out, and what does not fit into it.
#pragma once

#include <creek/mapreduce/memory_limit.hpp>
#include <creek/mapreduce/spill_file.hpp>
#include <cstddef>
#include <cstdint>

namespace creek::mapreduce {

/// What the limit comes to for one worker.
struct spill_shares {
  std::size_t limit;    ///< bytes, of all workers
  std::size_t worker;   ///< bytes, of one
  std::size_t buffer;   ///< bytes that are written at once
  std::size_t largest;  ///< bytes of a pair
  int bits;             ///< of the hash, that say the partition

  static constexpr int most_bits = 8;

  spill_shares(const memory_limit& given, std::size_t workers) noexcept;

  /// Bits that part what takes `bytes` into what takes `room` or less.
  [[nodiscard]] int bits_for(std::uint64_t bytes, std::size_t room) const noexcept;
};

namespace detail {

/// The first bit of the hash, from `base` on, in which keys of these blocks differ, or at least a
/// later one than `base` up to which they agree; 64 if they agree in all. The blocks' hashes begin
/// at `base`.
[[nodiscard]] int differing_from(const spill_blocks& blocks, int base) noexcept;

/// Throws creek::error (ENOMEM) for what cannot be parted any further.
[[noreturn]] void refuse_heavy_key(std::uint64_t values, std::uint64_t bytes, std::size_t limit);
/// The same for a pair that does not fit alone.
[[noreturn]] void refuse_pair(std::size_t limit);

}  // namespace detail

}  // namespace creek::mapreduce
