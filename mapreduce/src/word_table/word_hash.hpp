// SPDX-License-Identifier: Apache-2.0
// Hash of words for the word table: one 128-bit product of two masked loads.
#pragma once

#include <cstdint>
#include <string_view>

#include <creek/mapreduce/detail/readable_bytes.hpp>
#include <creek/tasking/hash.hpp>

namespace creek::mapreduce::detail {

/// Returns the upper, better mixed half of the hash of a string of at most 15 bytes. Unlike
/// hash_padded() it takes one product: for one secret of ten, similar short words have half as many
/// collisions again as random hashes have, which costs less than another product.
[[nodiscard]] constexpr std::uint32_t hash_upper(std::uint64_t low, std::uint64_t high,
                                                 const hash_factors& by) noexcept {
  // The second factor's top bit comes from `by`.
  const std::uint64_t hash =
      multiply_and_fold((low ^ by.low) | hash_factors::first_bit, high ^ by.high);
  return static_cast<std::uint32_t>(hash >> 32);
}

/// Returns a hash of a byte string that ignores trailing NUL bytes, for callers that compare those
/// later; takes few instructions. Strings of up to 16 bytes that differ only in the top bit of the
/// eighth or sixteenth byte (two or four of them) have the same hash.
[[nodiscard]] inline std::uint64_t hash_word(std::string_view bytes,
                                             const hash_secret& by) noexcept {
  if (bytes.size() > 16) return hash_long(bytes, by);
  const padded_bytes padded = pad_bytes(bytes);
  return multiply_and_fold((padded.low ^ by.factors.low) | hash_factors::first_bit,
                           (padded.high ^ by.factors.high) | hash_factors::first_bit);
}

}  // namespace creek::mapreduce::detail
