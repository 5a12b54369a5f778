// SPDX-License-Identifier: Apache-2.0
// The checker's record of memory: which core last wrote and last read each byte of each touched
// line, and the announcements of the words in it. Bytes of a line are bits of a mask, so that the
// few records of a line partition it, and every question is answered by masks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include <creek/scc/virtual_time.hpp>

#include "call_stacks/call_sites.hpp"
#include "causality.hpp"
#include "memory/line_buffers.hpp"
#include "memory/zeroed_memory.hpp"

namespace creek::scc_backend {

/// Bytes of a line, one bit each.
using byte_mask = std::uint32_t;

[[nodiscard]] constexpr byte_mask mask_of(std::size_t offset, std::size_t size) noexcept {
  return static_cast<byte_mask>(((std::uint64_t{1} << size) - 1) << offset);
}

/// An access to some bytes of a line, later than all others to them of its kind (and core).
struct access_record {
  byte_mask bytes = 0;
  std::int32_t core = 0;
  std::uint32_t epoch = 0;  ///< the core's epoch when it asked for the access
  std::uint32_t sent = 0;   ///< the core's when it took effect; later for writes held back
  site_id site = 0;
  virtual_time at;
  bool word = false;
  /// For a write: the epoch of the core's previous write there that no core has read; 0 if there is
  /// none.
  std::uint32_t unread = 0;
};

/// The announcement made by the last store to a word.
struct word_record {
  byte_mask bytes = 0;
  announcement news;
};

struct line_shadow {
  std::vector<access_record> writes;  ///< disjoint
  std::vector<access_record> reads;   ///< of blocks, since the last write; disjoint for each core
  std::vector<word_record> words;
  std::vector<std::int32_t> held_by;  ///< cores whose write-combine buffer holds part of the line
};

/// Takes bytes out of records and drops records with none left.
template <class Record>
void remove_bytes(std::vector<Record>& records, byte_mask bytes) {
  for (std::size_t i = 0; i < records.size();) {
    records[i].bytes &= ~bytes;
    if (records[i].bytes != 0) {
      ++i;
    } else {
      records[i] = std::move(records.back());
      records.pop_back();
    }
  }
}

/// The lines that were touched, by number.
class shadow_memory {
 public:
  explicit shadow_memory(std::size_t lines) : place_(lines) {}

  /// Returns the line, made if it is new. It stays where it is.
  line_shadow& line(std::size_t number) {
    std::uint32_t& place = place_[number];
    if (place == 0) {
      lines_.emplace_back();
      place = static_cast<std::uint32_t>(lines_.size());
    }
    return lines_[place - 1];
  }
  /// Returns the line, or null if it was never touched.
  line_shadow* find(std::size_t number) noexcept {
    return place_[number] == 0 ? nullptr : &lines_[place_[number] - 1];
  }

 private:
  zeroed_memory<std::uint32_t> place_;  ///< 1 + where in lines_, 0 if nowhere
  std::deque<line_shadow> lines_;
};

/// Map from stretches of memory to the numbers of the blocks that they belong to.
class block_map {
 public:
  static constexpr std::int32_t none = -1;

  /// Assigns the stretch to `block`, whatever it belonged to before.
  void assign(std::size_t begin, std::size_t end, std::int32_t block) {
    cut(begin);
    cut(end);
    const auto first = stretches_.lower_bound(begin);
    stretches_.erase(first, stretches_.lower_bound(end));
    stretches_[begin] = {end, block};
  }
  [[nodiscard]] std::int32_t at(std::size_t offset) const noexcept {
    auto after = stretches_.upper_bound(offset);
    if (after == stretches_.begin()) return none;
    const stretch& candidate = std::prev(after)->second;
    return offset < candidate.end ? candidate.block : none;
  }

 private:
  struct stretch {
    std::size_t end = 0;
    std::int32_t block = none;
  };
  /// Cuts the stretch that contains `offset` in two there.
  void cut(std::size_t offset) {
    auto after = stretches_.lower_bound(offset);
    if (after == stretches_.begin()) return;
    stretch& before = std::prev(after)->second;
    if (before.end <= offset) return;
    stretches_[offset] = {before.end, before.block};
    before.end = offset;
  }
  std::map<std::size_t, stretch> stretches_;
};

}  // namespace creek::scc_backend
