// SPDX-License-Identifier: Apache-2.0
// Counts colours eight pixels at a time, three words of 64 bits.
#include <creek/mapreduce/colour_histogram.hpp>

#include <algorithm>
#include <creek/core/charge.hpp>
#include <cstring>
#include <utility>

namespace creek::mapreduce {

namespace {

/// Copies of the array: neighbouring pixels are often alike, and an addition to the same place
/// waits for the one before (a store forwarded to a load, 7 cycles or so).
constexpr std::size_t copies = 4;
using colour_counts = std::uint32_t[copies][768];

/// Pixels before copies of 32 bits might overflow.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

/// Byte `I` of eight pixels.
template <std::size_t I>
inline void count_byte(std::uint64_t word, colour_counts& counts) {
  constexpr std::size_t at = I % 8, colour = I % 3, copy = I / 3 % copies;
  ++counts[copy][256 * colour + ((word >> (8 * at)) & 0xFF)];
}

template <std::size_t First>
inline void count_word(std::uint64_t word, colour_counts& counts) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (count_byte<First + I>(word, counts), ...);
  }
  (std::make_index_sequence<8>{});
}

void count_some(std::span<const pixel> pixels, colour_counts& counts) {
  const auto* at = reinterpret_cast<const unsigned char*>(pixels.data());
  const unsigned char* const end = at + pixels.size_bytes();
  for (; end - at >= 24; at += 24) {
    std::uint64_t words[3];
    std::memcpy(words, at, sizeof(words));
    count_word<0>(words[0], counts);
    count_word<8>(words[1], counts);
    count_word<16>(words[2], counts);
  }
  for (std::size_t i = 0; at != end; ++at, ++i) ++counts[0][256 * (i % 3) + *at];
}

}  // namespace

void count_colours(std::span<const pixel> pixels, std::span<std::uint64_t, 768> counts) noexcept {
  charge(work::element_visited, 3 * static_cast<std::int64_t>(pixels.size()));
  while (!pixels.empty()) {
    const std::size_t now = std::min(pixels.size(), most_at_once);
    colour_counts some{};
    count_some(pixels.first(now), some);
    for (std::size_t k = 0; k < counts.size(); ++k) {
      for (const auto& copy : some) counts[k] += copy[k];
    }
    pixels = pixels.subspan(now);
  }
}

}  // namespace creek::mapreduce
