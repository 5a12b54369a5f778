// SPDX-License-Identifier: Apache-2.0
// The input of the sorts and the hash that their result must have.
#pragma once
#include <cstdint>
#include <vector>

namespace bench {

/// Returns n integers of a fixed linear congruential sequence, the same in every peer.
inline std::vector<std::uint32_t> random_integers(std::int64_t n) {
  std::vector<std::uint32_t> data(static_cast<std::size_t>(n));
  std::uint64_t x = 42;
  for (auto& value : data) {
    x = x * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<std::uint32_t>(x >> 32);
  }
  return data;
}

/// Returns a hash that depends on every value and its position.
inline std::uint64_t order_hash(const std::vector<std::uint32_t>& data) {
  std::uint64_t hash = 0;
  for (const auto value : data) hash = hash * 0x9e3779b97f4a7c15U + value;
  return hash;
}

}  // namespace bench
