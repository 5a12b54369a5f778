// SPDX-License-Identifier: Apache-2.0
// The bytes of a block in memory, and whether those of two blocks overlap.
#pragma once

#include <creek/linalg/task_graph.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace creek::linalg::detail {

/// Columns of `height` bytes, the first at `first`, each `stride` after the previous one. A block
/// without gaps has one column, so that equal blocks are equal here.
struct byte_block {
  std::uint64_t first = 0;
  std::uint64_t height = 1;
  std::uint64_t columns = 1;
  std::uint64_t stride = 1;

  /// An operand without an extent is the byte at its address.
  static byte_block of(const operand& from) noexcept {
    byte_block block{reinterpret_cast<std::uintptr_t>(from.block), from.extent.column_bytes,
                     from.extent.columns, from.extent.stride};
    if (block.height == 0 || block.columns == 0) {
      block.height = block.columns = 1;
    } else if (block.columns > 1 && block.stride <= block.height) {
      block.height += (block.columns - 1) * block.stride;
      block.columns = 1;
    }
    if (block.columns == 1) block.stride = block.height;
    return block;
  }
  std::uint64_t span() const noexcept { return (columns - 1) * stride + height; }
  std::uint64_t end() const noexcept { return first + span(); }

  friend bool operator==(const byte_block&, const byte_block&) = default;
};

struct byte_block_hash {
  std::size_t operator()(const byte_block& of) const noexcept {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15u;
    std::uint64_t bits = (of.first ^ std::rotl(of.height, 32) ^ std::rotl(of.columns, 48)) * factor;
    bits = (bits ^ (bits >> 32) ^ of.stride) * factor;
    return bits ^ (bits >> 29);
  }
};

constexpr std::int64_t floor_quotient(std::int64_t a, std::int64_t b) noexcept {
  return a / b - (a % b < 0 ? 1 : 0);
}

/// Returns whether gaps of the two blocks can be compared: exact for blocks of one matrix, and for
/// a block with a contiguous one.
inline bool is_comparable(const byte_block& a, const byte_block& b) noexcept {
  return a.columns == 1 || b.columns == 1 || a.stride == b.stride;
}

/// Returns whether a byte is in both blocks. Of blocks with gaps and different strides only the
/// ranges from the first to the last byte are compared.
inline bool overlap(const byte_block& a, const byte_block& b) noexcept {
  if (a.end() <= b.first || b.end() <= a.first) return false;
  if ((a.columns == 1 && b.columns == 1) || !is_comparable(a, b)) return true;
  const auto stride = static_cast<std::int64_t>(a.columns > 1 ? a.stride : b.stride);
  // Column i of a and j of b overlap if  distance - a.height < (i - j) stride < distance + b.height
  const auto distance = static_cast<std::int64_t>(b.first - a.first);
  const std::int64_t least =
      floor_quotient(distance - static_cast<std::int64_t>(a.height), stride) + 1;
  const std::int64_t most =
      floor_quotient(distance + static_cast<std::int64_t>(b.height) - 1, stride);
  return std::max(least, 1 - static_cast<std::int64_t>(b.columns)) <=
         std::min(most, static_cast<std::int64_t>(a.columns) - 1);
}

/// Returns whether all bytes of `inner` are in `outer`; false if they cannot be compared.
inline bool contains(const byte_block& outer, const byte_block& inner) noexcept {
  if (inner.first < outer.first || inner.end() > outer.end()) return false;
  if (outer.columns == 1) return true;
  if (!is_comparable(outer, inner)) return false;
  const std::uint64_t distance = inner.first - outer.first;
  return distance % outer.stride + inner.height <= outer.height &&
         distance / outer.stride + inner.columns <= outer.columns;
}

}  // namespace creek::linalg::detail
