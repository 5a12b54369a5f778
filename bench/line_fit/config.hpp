// SPDX-License-Identifier: Apache-2.0
// The five sums of a linear regression over n points of two bytes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../support/zipf_text.hpp"
#include "harness/array_sums.hpp"
#include "harness/workload.hpp"

namespace bench::line_fit {

inline constexpr description what{.name = "line_fit",
                                  .about = "sums of a linear regression over n points of two bytes",
                                  .unit = "GB/s",
                                  .full = 201'000'000,
                                  .quick = 15'000'000,
                                  .smoke = 10'000,
                                  .rate = true,
                                  .groups = "mapreduce",
                                  .bounds = "memory_read"};

struct point {
  std::uint8_t x, y;
};
inline constexpr std::size_t unit = 1;
using sums = std::array<std::uint64_t, 5>;

template <class Point = point>
std::vector<Point> input_of(const settings& s) {
  creek_bench::random_bits random(2);
  std::vector<Point> points(static_cast<std::size_t>(s.n));
  for (auto& p : points) {
    const std::uint64_t r = random();
    p.x = static_cast<std::uint8_t>(r);
    p.y = static_cast<std::uint8_t>(p.x / 2 + (r >> 8 & 127));
  }
  return points;
}

/// The plain loop.
inline void add(std::span<const point> points, sums& to) {
  std::uint64_t x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const point& p : points) {
    const std::uint32_t a = p.x, b = p.y;
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  const sums all{x, y, xx, yy, xy};
  for (std::size_t k = 0; k < all.size(); ++k) to[k] += all[k];
}

}  // namespace bench::line_fit
