// SPDX-License-Identifier: Apache-2.0
// Extendible hash table [Fagin 1979] of cache lines, so that growing blocks nobody for long, frees
// nothing and copies little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <creek/mapreduce/word_table/word_entry.hpp>
#include <creek/mapreduce/word_table/zero_pool.hpp>
#include <creek/tasking/hash.hpp>

namespace creek::mapreduce::detail {

/// Head of an array of lines whose words agree in the first `depth` bits of their index; split into
/// two when full. Collisions are resolved by linear probing from line to line.
struct alignas(64) word_segment {
  word_segment* overflow = nullptr;  // for words with equal bits of their index
  std::uint32_t used = 0;            // entries
  std::uint32_t depth = 0;

  [[nodiscard]] word_line* lines() noexcept { return reinterpret_cast<word_line*>(this + 1); }
  [[nodiscard]] const word_line* lines() const noexcept {
    return reinterpret_cast<const word_line*>(this + 1);
  }
};
static_assert(sizeof(word_segment) == sizeof(word_line));

/// Not synchronised. Lines stay valid as long as the pool.
class word_directory {
 public:
  /// Must be called once, before all else. `lines`: of the first segment.
  void initialise(zero_pool& pool, const hash_factors& factors, std::uint32_t lines, bool is_long);

  /// Creates the first segment: texts with few words touch little memory.
  void begin() {
    if (directory_.empty()) directory_.push_back(make_segment(0));
  }

  [[nodiscard]] bool is_long() const noexcept { return is_long_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return segments_.size() * (lines_ + 1) * sizeof(word_line) +
           directory_.size() * sizeof(word_segment*);
  }
  [[nodiscard]] std::span<word_segment* const> segments() const noexcept { return segments_; }
  /// Returns the lines of a segment.
  [[nodiscard]] std::span<word_line> lines_of(word_segment& s) const noexcept {
    return {s.lines(), lines_};
  }

  [[nodiscard]] word_segment* segment_of(std::uint32_t index) const noexcept {
    return directory_[index >> shift_];
  }
  /// Returns the number of the first line, in its segment, in which a word is searched for.
  [[nodiscard]] std::uint32_t first_line(std::uint32_t index) const noexcept {
    return (index & ((1u << line_bits) - 1)) * lines_ >> line_bits;
  }
  /// Returns that line. Its words may move to another segment later.
  [[nodiscard]] word_line* find_line(std::uint32_t index) const noexcept {
    return segment_of(index)->lines() + first_line(index);
  }

  [[nodiscard]] bool full(const word_segment& s) const noexcept { return s.used >= max_used_; }
  /// Returns the segment for a new word, with room; grows or splits it first if it is full.
  word_segment* make_room(std::uint32_t index);
  /// Returns whether the directory leads to each segment by the bits that its words share, every
  /// word is found where it is searched for, and the segments' counts are right.
  [[nodiscard]] bool verify() const noexcept;

 private:
  static constexpr std::uint32_t line_bits = 10;  // of an index, select the segment's line

  word_segment* make_segment(std::uint32_t depth);
  void set_lines(std::uint32_t lines) noexcept;
  [[nodiscard]] std::uint32_t index_of_key(const word_key& key) const noexcept;
  template <class SegmentOf>
  void put_all(std::span<const word_line> from, SegmentOf&& segment_of);
  void put_new(word_segment& s, std::uint32_t index, const word_key& key,
               std::uint32_t count) noexcept;
  void grow();
  void split(std::uint32_t index);
  [[nodiscard]] bool leads_to(const word_segment& s, std::uint32_t index,
                              const word_line& line) const noexcept;
  [[nodiscard]] bool verify_line(const word_segment& s, const word_line& line,
                                 std::uint32_t& used) const noexcept;
  [[nodiscard]] bool verify_segment(const word_segment& s) const noexcept;

  std::vector<word_segment*> directory_;  // by the first bits of an index; empty at first
  std::uint32_t shift_ = 24;              // 24 - number of those bits
  std::uint32_t lines_ = 0;               // per segment
  std::uint32_t max_used_ = 0;            // maximum entries per segment
  bool is_long_ = false;
  std::vector<word_segment*> segments_;
  zero_pool* pool_ = nullptr;
  const hash_factors* factors_ = nullptr;
};

}  // namespace creek::mapreduce::detail
