// SPDX-License-Identifier: Apache-2.0
// The jobs of the published MapReduce study beside word count ([N] in scc-chip.md; the jobs are
// those of Phoenix, Ranger et al., HPCA 2007, doi:10.1109/HPCA.2007.346181), and their inputs. They
// count in integers, so that a sum does not depend on its order; each states what its map computes.
#pragma once

#include <array>
#include <creek/core/charge.hpp>
#include <creek/mapreduce/job.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <zipf_text.hpp>

namespace creek::tool::bench {

/// Three bytes of colour.
struct pixel {
  std::array<std::uint8_t, 3> colour;
};

/// How often each value of each colour occurs: 768 keys, three pairs a pixel.
struct histogram {
  using key_type = std::uint16_t;
  using value_type = std::uint32_t;

  template <class Emit>
  static void map(std::span<const pixel> pixels, Emit& emit) {
    charge(work::element_visited, 3 * static_cast<std::int64_t>(pixels.size()));
    for (const pixel& p : pixels) {
      for (std::size_t c = 0; c < 3; ++c) emit(static_cast<key_type>(256 * c + p.colour[c]), 1);
    }
  }
  static void combine(value_type& into, value_type from) { into += from; }
};

struct sample {
  std::int16_t x, y;
};

/// The five sums that a line of best fit is made of; a mapper adds up its part.
struct linear_regression {
  using key_type = std::uint8_t;
  using value_type = std::int64_t;

  template <class Emit>
  static void map(std::span<const sample> samples, Emit& emit) {
    charge(work::element_visited, static_cast<std::int64_t>(samples.size()));
    charge(work::value_reduced, 5 * static_cast<std::int64_t>(samples.size()));
    std::array<value_type, 5> sums{};
    for (const sample& s : samples) {
      const value_type x = s.x, y = s.y;
      const std::array<value_type, 5> terms{x, y, x * x, y * y, x * y};
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += terms[i];
    }
    for (std::size_t i = 0; i < sums.size(); ++i) emit(static_cast<key_type>(i), sums[i]);
  }
  static void combine(value_type& into, value_type from) { into += from; }
};

struct point {
  std::array<std::int32_t, 3> at;
};

/// One round of k-means: every point goes to its nearest centre, whose points are added up.
struct k_means {
  static constexpr std::size_t clusters = 16;
  using key_type = std::uint32_t;
  struct value_type {
    std::array<std::int64_t, 3> sum;
    std::int64_t points;
    friend bool operator==(const value_type&, const value_type&) = default;
  };

  std::array<point, clusters> centres;

  template <class Emit>
  void map(std::span<const point> points, Emit& emit) const {
    const auto distances = static_cast<std::int64_t>(points.size() * clusters);
    charge(work::flop, 8 * distances);  // three differences and squares, two additions
    charge(work::comparison, distances);
    for (const point& p : points) {
      emit(nearest(p), value_type{{p.at[0], p.at[1], p.at[2]}, 1});
    }
  }
  static void combine(value_type& into, const value_type& from) {
    for (std::size_t i = 0; i < into.sum.size(); ++i) into.sum[i] += from.sum[i];
    into.points += from.points;
  }

 private:
  [[nodiscard]] key_type nearest(const point& p) const {
    key_type best = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t c = 0; c < clusters; ++c) {
      std::int64_t square = 0;
      for (std::size_t i = 0; i < p.at.size(); ++i) {
        const std::int64_t apart = p.at[i] - centres[c].at[i];
        square += apart * apart;
      }
      if (square < least) {
        least = square;
        best = static_cast<key_type>(c);
      }
    }
    return best;
  }
};

inline std::vector<pixel> random_pixels(std::size_t count) {
  creek_bench::random_bits random(2);
  std::vector<pixel> pixels(count);
  for (pixel& p : pixels) {
    // Towards the middle, as in a photograph.
    for (std::uint8_t& c : p.colour)
      c = static_cast<std::uint8_t>((random() % 256 + random() % 256) / 2);
  }
  return pixels;
}

inline std::vector<sample> random_samples(std::size_t count) {
  creek_bench::random_bits random(3);
  std::vector<sample> samples(count);
  for (sample& s : samples) {
    s.x = static_cast<std::int16_t>(random() % 1000);
    s.y = static_cast<std::int16_t>(3 * s.x + static_cast<int>(random() % 200) - 100);
  }
  return samples;
}

inline point random_point(creek_bench::random_bits& random) {
  point p;
  for (std::int32_t& c : p.at) c = static_cast<std::int32_t>(random() % 10000);
  return p;
}

inline std::vector<point> random_points(std::size_t count) {
  creek_bench::random_bits random(4);
  std::vector<point> points(count);
  for (point& p : points) p = random_point(random);
  return points;
}

inline k_means random_centres() {
  creek_bench::random_bits random(5);
  k_means job{};
  for (point& p : job.centres) p = random_point(random);
  return job;
}

}  // namespace creek::tool::bench
