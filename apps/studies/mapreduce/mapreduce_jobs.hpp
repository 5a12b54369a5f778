// SPDX-License-Identifier: Apache-2.0
// The jobs of the MapReduce study on the SCC [Papagiannis 2011] (docs/scc/machine.md) beside word
// count, which are those of Phoenix [Ranger 2007], as they emit pairs.
// They count in integers, so that a sum does not depend on its order; each states what its map
// computes. The library's own jobs of these names fill arrays instead, where they can.
#pragma once

#include <array>
#include <creek/core/charge.hpp>
#include <creek/mapreduce/job.hpp>
#include <creek/mapreduce/jobs/colour_histogram.hpp>
#include <creek/mapreduce/jobs/string_match.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace creek::tool::bench {

/// Counts how often each value of each colour occurs: 768 keys, three pairs per pixel.
struct histogram {
  using key_type = std::uint16_t;
  using value_type = std::uint32_t;

  template <class Emit>
  static void map(std::span<const mapreduce::pixel> pixels, Emit& emit) {
    charge(work::element_visited, 3 * static_cast<std::int64_t>(pixels.size()));
    for (const mapreduce::pixel& p : pixels) {
      for (std::size_t c = 0; c < 3; ++c) emit(static_cast<key_type>(256 * c + p.colour[c]), 1);
    }
  }
  static void combine(value_type& into, value_type from) { into += from; }
};

struct sample {
  std::int16_t x, y;
};

/// Computes the five sums that a line of best fit needs; a mapper adds up its part.
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

/// One round of k-means: assigns each point to its nearest centre and adds up each centre's points.
struct k_means {
  static constexpr std::size_t clusters = 16;
  using key_type = std::uint32_t;
  struct value_type {
    std::array<std::int64_t, 3> sum;
    std::int64_t points;
    friend bool operator==(const value_type&, const value_type&) = default;
  };
  static constexpr bool may_group = true;

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

/// Counts how often strings occur and in how many lines: one pair per line that has the string.
struct match_by_line {
  using key_type = std::uint32_t;
  using value_type = mapreduce::match_counts;
  static constexpr bool may_group = true;

  std::vector<std::string> patterns;

  template <class Emit>
  void map(std::string_view text, Emit& emit) const {
    charge(work::byte_scanned, static_cast<std::int64_t>(text.size()));  // search for line ends
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      for (std::size_t k = 0; k < patterns.size(); ++k) {
        value_type found;
        mapreduce::count_matches(line, std::span(patterns).subspan(k, 1), std::span(&found, 1));
        if (found.lines != 0) emit(static_cast<key_type>(k), found);
      }
      text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    }
  }
  static void combine(value_type& into, value_type from) {
    mapreduce::string_match::combine(into, from);
  }
};

}  // namespace creek::tool::bench
