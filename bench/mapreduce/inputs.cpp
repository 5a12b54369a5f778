// SPDX-License-Identifier: Apache-2.0
// Inputs made by a fast generator with a fixed seed.
#include "inputs.hpp"

#include <algorithm>
#include <cstdint>

#include "../../support/zipf_text.hpp"

namespace creek_bench {

std::vector<creek::mapreduce::pixel> walking_colours(std::size_t count) {
  random_bits random(1);
  std::vector<creek::mapreduce::pixel> pixels(count);
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

std::vector<creek::mapreduce::byte_point> noisy_line(std::size_t count) {
  random_bits random(2);
  std::vector<creek::mapreduce::byte_point> points(count);
  for (auto& p : points) {
    const std::uint64_t r = random();
    p.x = static_cast<std::uint8_t>(r);
    p.y = static_cast<std::uint8_t>(p.x / 2 + (r >> 8 & 127));
  }
  return points;
}

std::vector<float> uniform_points(std::size_t count, std::size_t dimensions) {
  random_bits random(3);
  std::vector<float> points(count * dimensions);
  for (float& one : points) one = static_cast<float>(random() >> 40) * 0x1p-24f;
  return points;
}

}  // namespace creek_bench
