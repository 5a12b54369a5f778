// SPDX-License-Identifier: Apache-2.0
// The peer: a careful implementation with the standard library.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace creek_bench {

using count_map = std::unordered_map<std::string_view, std::uint64_t>;

/// Each thread takes pieces of the text in turn and combines into its own hash maps, one per
/// partition; then thread p merges partition p of all threads. Returns the partitions.
std::vector<count_map> count_unordered(std::string_view text, unsigned threads);

}  // namespace creek_bench
