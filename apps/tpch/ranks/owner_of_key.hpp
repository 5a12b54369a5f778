// SPDX-License-Identifier: Apache-2.0
// Which rank owns a key.
#pragma once

#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>

namespace creek::tpch {

/// Returns the number, below `ranks`, of the rank that brings the rows of a key together. All
/// processes agree on it. Keys that somebody chooses may all have one owner, which costs time only.
[[nodiscard]] constexpr std::size_t owner_of_key(std::int64_t key, std::size_t ranks) noexcept {
  return static_cast<std::size_t>((hash_integer(static_cast<std::uint64_t>(key)) >> 32) * ranks >>
                                  32);
}

}  // namespace creek::tpch
