// SPDX-License-Identifier: Apache-2.0
// Makes small pairs with equal integer keys adjacent by moving them; sort_refs does it with
// pointers for pairs that are better left in place.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <creek/mapreduce/detail/spread_key.hpp>
#include <creek/mapreduce/tables/values.hpp>

namespace creek::mapreduce {

/// Pair that is cheaper to move than to point to.
template <class Pair>
concept movable_pair = std::integral<decltype(Pair::key)> && std::is_trivially_copyable_v<Pair> &&
                       std::is_trivially_default_constructible_v<Pair> && sizeof(Pair) <= 32;

namespace detail {

/// Counts of digits of up to 8 bits, and the position where each digit begins.
class digit_counts {
 public:
  /// Digits are the `bits` bits after the first `skipped` bits of a spread key.
  digit_counts(int skipped, int bits) noexcept : skipped_(skipped), down_(64 - bits) {}

  [[nodiscard]] std::size_t digit_of(std::uint64_t spread) const noexcept {
    return spread << skipped_ >> down_;
  }
  void add(std::uint64_t spread) noexcept { ++count_[digit_of(spread)]; }
  [[nodiscard]] std::size_t size(std::size_t digit) const noexcept { return count_[digit]; }
  [[nodiscard]] std::size_t digits() const noexcept { return std::size_t{1} << (64 - down_); }
  [[nodiscard]] std::array<std::size_t, 256> begins() const noexcept {
    std::array<std::size_t, 256> begins;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < digits(); ++i) {
      begins[i] = sum;
      sum += count_[i];
    }
    return begins;
  }

 private:
  int skipped_, down_;
  std::array<std::size_t, 256> count_{};
};

template <movable_pair Pair>
void insertion_sort(std::span<Pair> pairs) noexcept {
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const Pair next = pairs[i];
    std::size_t at = i;
    for (; at > 0 && next.key < pairs[at - 1].key; --at) pairs[at] = pairs[at - 1];
    pairs[at] = next;
  }
}

/// Permutes pairs so that those with equal keys are adjacent, keys in no particular order. Radix
/// sort by spread keys, which agree in their first `skipped` bits, most significant first, back and
/// forth between two arrays of one size: the pairs of `from` end up in `from` or, with `across`, in
/// `to`. One thread.
template <movable_pair Pair>
void gather_spread(std::span<Pair> from, std::span<Pair> to, int skipped, bool across) noexcept {
  constexpr std::size_t few = 32;  // below, counting costs more than it saves
  if (from.size() > few && skipped < 64) {
    // About two pairs per digit.
    const int bits = std::min({8, static_cast<int>(std::bit_width(from.size())) - 2, 64 - skipped});
    digit_counts counts(skipped, bits);
    const std::uint64_t first = spread_key(from[0].key);
    std::uint64_t differing = 0;
    for (const Pair& pair : from) {
      const std::uint64_t spread = spread_key(pair.key);
      differing |= spread ^ first;
      counts.add(spread);
    }
    if (differing != 0 && counts.size(counts.digit_of(first)) == from.size()) {
      return gather_spread(from, to, std::countl_zero(differing), across);
    }
    if (differing != 0) {
      auto next = counts.begins();
      for (const Pair& pair : from) to[next[counts.digit_of(spread_key(pair.key))]++] = pair;
      for (std::size_t digit = 0; digit < counts.digits(); ++digit) {
        const std::size_t size = counts.size(digit);
        if (size == 0) continue;
        const std::size_t begin = next[digit] - size;
        gather_spread(to.subspan(begin, size), from.subspan(begin, size), skipped + bits, !across);
      }
      return;
    }
  } else {
    insertion_sort(from);
  }
  if (across) std::ranges::copy(from, to.begin());
}

}  // namespace detail
}  // namespace creek::mapreduce
