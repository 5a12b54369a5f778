// SPDX-License-Identifier: Apache-2.0
// Counts and lists the set bits of arrays with the instructions that the CPU has at run time:
// without them std::popcount is a call into a library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace creek::tpch {

[[nodiscard]] std::size_t count_ones(std::span<const std::uint64_t> bits) noexcept;

/// Sets before[i] to the number of ones in bits[0] ... bits[i-1]; it has the size of `bits`.
void count_ones_before(std::span<const std::uint32_t> bits, std::uint32_t* before) noexcept;

/// Writes the indices of the ones, in order, and returns how many there are. Up to 64 elements
/// behind the last one may be overwritten; there are at most 1024 words.
[[nodiscard]] std::size_t list_ones(std::span<const std::uint64_t> bits,
                                    std::uint16_t* to) noexcept;

}  // namespace creek::tpch
