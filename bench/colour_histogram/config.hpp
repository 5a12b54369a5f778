// SPDX-License-Identifier: Apache-2.0
// Counts the values of the three colours of n pixels whose neighbours are similar, as in
// photographs: harder to count than noise.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../support/zipf_text.hpp"
#include "harness/array_sums.hpp"
#include "harness/workload.hpp"

namespace bench::colour_histogram {

inline constexpr description what{.name = "colour_histogram",
                                  .about = "values of the three colours of n pixels",
                                  .unit = "GB/s",
                                  .full = 134'000'000,
                                  .quick = 10'000'000,
                                  .smoke = 10'000,
                                  .rate = true,
                                  .groups = "mapreduce",
                                  .bounds = "memory_read"};

struct pixel {
  std::uint8_t colour[3];
};
inline constexpr std::size_t unit = 1;
using sums = std::array<std::uint64_t, 768>;

template <class Pixel = pixel>
std::vector<Pixel> input_of(const settings& s) {
  creek_bench::random_bits random(1);
  std::vector<Pixel> pixels(static_cast<std::size_t>(s.n));
  int at[3] = {90, 128, 160};
  for (auto& p : pixels) {
    const std::uint64_t steps = random();
    for (unsigned c = 0; c < 3; ++c) {
      at[c] = std::clamp(at[c] + static_cast<int>(steps >> (8 * c) & 15) - 7, 0, 255);
      if ((steps >> 40) % 1024 == 0) at[c] = static_cast<int>(steps >> (8 * c) & 255);  // an edge
      p.colour[c] = static_cast<std::uint8_t>(at[c]);
    }
  }
  return pixels;
}

/// The plain loop.
inline void add(std::span<const pixel> pixels, sums& to) {
  std::array<std::uint32_t, 768> here{};
  for (const pixel& p : pixels) {
    ++here[p.colour[0]];
    ++here[256 + p.colour[1]];
    ++here[512 + p.colour[2]];
  }
  for (std::size_t k = 0; k < here.size(); ++k) to[k] += here[k];
}

}  // namespace bench::colour_histogram
