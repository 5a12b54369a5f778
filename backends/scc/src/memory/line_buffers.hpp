// SPDX-License-Identifier: Apache-2.0
// A core's private buffers for message-passing memory: copies of lines in L1, which go stale,
// and the one line that its writes are collected in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace creek::scc_backend {

inline constexpr std::size_t line_size = 32;  // [Mattson 2010]
inline constexpr std::int64_t words_a_line = 8;
using line_data = std::array<std::byte, line_size>;

/// The L1 data cache for MPBT lines: 16 KB, 4 ways [Mattson 2010]; least recently used is an
/// assumption. Allocated at the first read: a core that never reads blocks costs nothing.
class l1_cache {
 public:
  /// Returns the copy of a line, stale or not; null if there is none.
  line_data* find(std::uint32_t line) noexcept {
    if (!sets_) return nullptr;
    way* set = set_of(line);
    for (std::size_t i = 0; i < ways; ++i) {
      if (set[i].line == line && set[i].epoch == epoch_) {
        set[i].used = ++clock_;
        return &set[i].data;
      }
    }
    return nullptr;
  }
  /// Returns room for the line, in place of an invalid or the least recently used one.
  line_data& allocate(std::uint32_t line) {
    if (!sets_) sets_ = std::make_unique<way[]>(set_count * ways);
    way* set = set_of(line);
    way* victim = set;
    for (std::size_t i = 0; i < ways; ++i) {
      if (set[i].epoch != epoch_) {
        victim = &set[i];
        break;
      }
      if (set[i].used < victim->used) victim = &set[i];
    }
    victim->line = line;
    victim->epoch = epoch_;
    victim->used = ++clock_;
    return victim->data;
  }
  /// Executes CL1INVMB: invalidates all lines.
  void invalidate() noexcept { ++epoch_; }

 private:
  static constexpr std::size_t ways = 4;
  static constexpr std::size_t set_count = (std::size_t{16} << 10) / line_size / ways;
  struct way {
    std::uint32_t line = 0;
    std::uint32_t epoch = 0;  ///< valid if equal to that of the cache
    std::uint32_t used = 0;
    line_data data;
  };
  way* set_of(std::uint32_t line) noexcept { return &sets_[(line % set_count) * ways]; }

  std::unique_ptr<way[]> sets_;
  std::uint32_t epoch_ = 1;
  std::uint32_t clock_ = 0;
};

/// The write-combine buffer: one line, and which of its bytes were written.
struct write_combine_buffer {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::uint32_t line = none;
  std::uint32_t written = 0;  ///< one bit per byte
  line_data data;

  bool full() const noexcept { return written == ~std::uint32_t{0}; }
  void put(std::size_t offset, const std::byte* from, std::size_t size) noexcept {
    std::memcpy(data.data() + offset, from, size);
    const std::uint64_t ones = (std::uint64_t{1} << size) - 1;
    written |= static_cast<std::uint32_t>(ones << offset);
  }
  /// Writes the collected bytes to memory, as they are.
  void drain_to(std::byte* to) noexcept {
    for (std::size_t i = 0; i < line_size; ++i) {
      if ((written >> i & 1U) != 0) to[i] = data[i];
    }
    line = none;
    written = 0;
  }
};

}  // namespace creek::scc_backend
