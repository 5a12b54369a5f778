// SPDX-License-Identifier: Apache-2.0
// Counts colours eight pixels at a time.
#include <creek/mapreduce/jobs/colour_histogram.hpp>

#include <algorithm>
#include <creek/core/charge.hpp>
#include <creek/mapreduce/inputs/prefetch_text.hpp>
#include <cstring>
#include <utility>

namespace creek::mapreduce {

namespace {

/// Copies of the array: neighbouring pixels are often alike, and an addition to the same element
/// waits for the previous one (a store forwarded to a load, about 7 cycles).
constexpr std::size_t copies = 4;
using colour_counts = std::uint32_t[copies][768];

/// Maximum number of pixels before the 32-bit copies could overflow.
constexpr std::size_t most_at_once = std::size_t{1} << 30;

/// Counts byte `I` of some pixels, each loaded separately: a load is cheaper than a shift.
template <std::size_t... I>
inline void count_bytes(const unsigned char* at, colour_counts& counts, std::index_sequence<I...>) {
  (++counts[I / 3 % copies][256 * (I % 3) + at[I]], ...);
}

void count_some(std::span<const pixel> pixels, colour_counts& counts) {
  const auto* at = reinterpret_cast<const unsigned char*>(pixels.data());
  const unsigned char* const end = at + pixels.size_bytes();
  for (; end - at >= 24; at += 24) {
    prefetch_text(at, fetched_ahead);
    count_bytes(at, counts, std::make_index_sequence<24>{});
  }
  for (std::size_t i = 0; at != end; ++at, ++i) ++counts[0][256 * (i % 3) + *at];
}

void add_copies(const colour_counts& some, std::span<std::uint64_t, 768> counts) {
  for (const auto& copy : some) {
    for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += copy[k];
  }
}

}  // namespace

void count_colours(pixel_rows pixels, std::span<std::uint64_t, 768> counts) noexcept {
  charge(work::element_visited, static_cast<std::int64_t>(pixels.size_bytes()));
  colour_counts some{};
  std::size_t room = most_at_once;
  for (std::size_t r = 0; r < pixels.rows(); ++r) {
    for (std::span<const pixel> row = pixels[r]; !row.empty();) {
      const std::size_t now = std::min(row.size(), room);
      count_some(row.first(now), some);
      row = row.subspan(now);
      room -= now;
      if (room == 0) {
        add_copies(some, counts);
        std::memset(some, 0, sizeof(some));
        room = most_at_once;
      }
    }
  }
  add_copies(some, counts);
}

}  // namespace creek::mapreduce
