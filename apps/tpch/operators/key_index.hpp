// SPDX-License-Identifier: Apache-2.0
// Indices of keys in a set, for joins: maps a key to 0, 1, 2, ... in the order of the keys.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace creek::tpch {

/// A set of different keys. If they fill a range, it is only that range. If they lie close
/// together, it is a bitmap over their range with the number of set bits before each word: an
/// absent key, the usual case in a join, costs one load from an array of one bit per key. Else it
/// is a hash table with open addressing. Any thread may look up keys.
class key_index {
 public:
  static constexpr std::size_t absent = ~std::size_t{0};

  /// Makes the set of `keys`, which are in ascending order and all different.
  explicit key_index(std::span<const std::int64_t> keys);

  /// Returns the set of the `size` > 0 keys `least`, `least + 1`, ...
  [[nodiscard]] static key_index consecutive(std::int64_t least, std::size_t size);

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns false if the set is a hash table.
  [[nodiscard]] bool dense() const noexcept { return dense_; }
  /// Returns the bytes that the structure occupies.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return (bits_.size() + before_.size()) * sizeof(std::uint32_t) + slots_.size() * sizeof(slot);
  }

  /// Returns the number of slots that finding every key once reads; 0 if dense(). At most 2 per key
  /// are expected. For tests.
  [[nodiscard]] std::size_t probes() const noexcept;

  /// Array in which bit `key - least` (in 64 bits that wrap round) stands for a key, for keys below
  /// `range`; without an array all keys of the range are members. The range is empty unless
  /// dense(). Behind the last bit's word `slack` more words may be read.
  struct bitmap {
    static constexpr std::size_t slack = 64;  // the longest vector in select.cpp
    const std::uint32_t* bits;
    std::uint64_t least, range;
  };
  [[nodiscard]] bitmap as_bitmap() const noexcept {
    return {bits_.empty() ? nullptr : bits_.data(), least_, range_};
  }

  /// Returns the index of the key, or absent.
  [[nodiscard]] std::size_t find(std::int64_t key) const noexcept {
    const std::uint64_t offset = static_cast<std::uint64_t>(key) - least_;
    if (!dense_) return find_hashed(offset);
    if (offset >= range_) return absent;
    if (bits_.empty()) return static_cast<std::size_t>(offset);
    const std::uint32_t bits = bits_[offset / 32];
    const std::uint32_t bit = std::uint32_t{1} << offset % 32;
    if ((bits & bit) == 0) return absent;
    return before_[offset / 32] + ones(bits & (bit - 1));
  }

 private:
  key_index() = default;

  struct slot {
    std::uint64_t offset = 0;
    std::size_t place = absent;
  };

  /// Does the work of std::popcount, which without an instruction is a call into a library.
  [[nodiscard]] static constexpr std::size_t ones(std::uint32_t bits) noexcept {
    bits -= bits >> 1 & 0x55555555;
    bits = (bits & 0x33333333) + (bits >> 2 & 0x33333333);
    return ((bits + (bits >> 4)) & 0x0f0f0f0f) * std::uint32_t{0x01010101} >> 24;
  }
  void build_dense(std::span<const std::int64_t> keys);
  void build_hashed(std::span<const std::int64_t> keys);
  /// Inserts all keys into the empty slots. Returns false if that needs more than `limit` probes.
  bool put_all(std::span<const std::int64_t> keys, std::size_t limit);
  /// Hashes by one multiplication: more would take a tenth of a look-up. See build_hashed().
  [[nodiscard]] std::size_t home_of(std::uint64_t offset) const noexcept {
    return static_cast<std::size_t>((offset * factor_) >> shift_);
  }
  [[nodiscard]] std::size_t find_hashed(std::uint64_t offset) const noexcept {
    for (std::size_t at = home_of(offset);; at = (at + 1) % slots_.size()) {
      if (slots_[at].place == absent) return absent;
      if (slots_[at].offset == offset) return slots_[at].place;
    }
  }

  std::size_t size_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t range_ = 0;
  bool dense_ = true;
  std::vector<std::uint32_t> bits_;
  std::vector<std::uint32_t> before_;  // keys in the words before; separate, to keep the bits close
  std::vector<slot> slots_;            // a power of two, at most half full
  int shift_ = 63;
  std::uint64_t factor_ = 1;  // factor of the hash; odd
};

/// Sorts keys and removes duplicates; fast if they are sorted already.
inline void make_key_set(std::vector<std::int64_t>& keys) {
  if (!std::ranges::is_sorted(keys)) std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

}  // namespace creek::tpch
