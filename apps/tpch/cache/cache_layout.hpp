// SPDX-License-Identifier: Apache-2.0
// Layout of cache files, shared by the writer and the reader.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tpch/columns/table.hpp"

namespace creek::tpch::detail {

struct cache_header {
  std::array<char, 8> magic{};
  std::uint32_t version = 0;
  std::uint32_t directory_bytes = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t directory_hash = 0;
  std::uint64_t header_hash = 0;  ///< hash of the bytes before it
  std::array<char, 24> reserved{};
};
static_assert(sizeof(cache_header) == 64);

inline constexpr std::array<char, 8> cache_magic{'C', 'R', 'E', 'E', 'K', 'T', 'P', 'C'};

/// An array has a checksum for each so many bytes, and one for the rest.
inline constexpr std::size_t hashed_bytes = std::size_t{1} << 20;

[[nodiscard]] constexpr std::uint64_t round_up_64(std::uint64_t bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}

/// Returns the bytes that an array of `bytes` bytes takes up with its slack.
[[nodiscard]] constexpr std::uint64_t section_bytes(std::uint64_t bytes) noexcept {
  return round_up_64(bytes + read_slack);
}

[[nodiscard]] std::uint64_t hash_of(std::string_view bytes) noexcept;
[[nodiscard]] std::uint64_t hash_of(const cache_header& header) noexcept;
/// Returns the checksums of an array from a multiple of `hashed_bytes` on.
[[nodiscard]] std::vector<std::uint64_t> hashes_of(std::string_view bytes);

[[nodiscard]] inline std::string_view bytes_of(const packed& values) noexcept {
  return {reinterpret_cast<const char*>(values.codes), values.bytes()};
}

}  // namespace creek::tpch::detail
