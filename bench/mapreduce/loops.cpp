// SPDX-License-Identifier: Apache-2.0
// Loops on threads.
#include "loops.hpp"

#include <array>
#include <cstddef>
#include <limits>
#include <thread>

namespace creek_bench {

namespace {

/// Calls `f(share, sums)` for an even share of `data`, cut between groups of `unit` elements, on
/// each of `threads` threads (the caller is one), and adds up their sums.
template <class Sum, class T, class F>
answer on_shares(std::span<const T> data, std::size_t unit, std::size_t keys, unsigned threads,
                 F f) {
  std::vector<std::vector<Sum>> sums(threads);
  const auto work = [&](std::size_t self) {
    sums[self].assign(keys, 0);
    const std::size_t units = data.size() / unit;
    const std::size_t from = self * units / threads, to = (self + 1) * units / threads;
    f(data.subspan(from * unit, (to - from) * unit), std::span<Sum>(sums[self]));
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
  }
  answer all(keys);
  for (const auto& some : sums) {
    for (std::size_t k = 0; k < keys; ++k) all[k] += static_cast<double>(some[k]);
  }
  return all;
}

void plain_histogram(std::span<const pixel> pixels, std::span<std::uint64_t> counts) {
  std::array<std::uint32_t, 768> here{};
  for (const pixel& p : pixels) {
    ++here[p.colour[0]];
    ++here[256 + p.colour[1]];
    ++here[512 + p.colour[2]];
  }
  for (std::size_t k = 0; k < here.size(); ++k) counts[k] += here[k];
}

void plain_line_sums(std::span<const byte_point> points, std::span<std::uint64_t> sums) {
  std::uint64_t x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const byte_point& p : points) {
    const std::uint32_t a = p.x, b = p.y;
    x += a;
    y += b;
    xx += a * a;
    yy += b * b;
    xy += a * b;
  }
  const std::array<std::uint64_t, 5> all{x, y, xx, yy, xy};
  for (std::size_t k = 0; k < all.size(); ++k) sums[k] += all[k];
}

void plain_k_means(std::span<const float> points, std::span<const float> centres, std::size_t d,
                   std::span<double> sums) {
  for (std::size_t at = 0; at < points.size(); at += d) {
    float best = std::numeric_limits<float>::infinity();
    std::size_t nearest = 0;
    for (std::size_t c = 0; c < centres.size(); c += d) {
      float distance = 0;
      for (std::size_t j = 0; j < d; ++j) {
        const float away = points[at + j] - centres[c + j];
        distance += away * away;
      }
      if (distance < best) {
        best = distance;
        nearest = c / d;
      }
    }
    for (std::size_t j = 0; j < d; ++j) {
      sums[nearest * (d + 1) + j] += static_cast<double>(points[at + j]);
    }
    sums[nearest * (d + 1) + d] += 1;
    sums.back() += static_cast<double>(best);
  }
}

}  // namespace

answer histogram_by_loop(std::span<const pixel> pixels, unsigned threads, loop_kind kind) {
  return on_shares<std::uint64_t>(pixels, 1, 768, threads, [kind](auto share, auto counts) {
    if (kind == loop_kind::plain) return plain_histogram(share, counts);
    creek::mapreduce::count_colours(share, counts.template first<768>());
  });
}

answer line_sums_by_loop(std::span<const byte_point> points, unsigned threads, loop_kind kind) {
  return on_shares<std::uint64_t>(points, 1, 5, threads, [kind](auto share, auto sums) {
    if (kind == loop_kind::plain) return plain_line_sums(share, sums);
    creek::mapreduce::add_line_sums(share, sums.template first<5>());
  });
}

answer k_means_by_loop(std::span<const float> points, std::span<const float> centres,
                       std::size_t dimensions, unsigned threads, loop_kind kind) {
  const std::size_t keys = centres.size() / dimensions * (dimensions + 1) + 1;
  return on_shares<double>(points, dimensions, keys, threads, [&](auto share, auto sums) {
    if (kind == loop_kind::plain) return plain_k_means(share, centres, dimensions, sums);
    if (kind == loop_kind::native) return native_k_means(share, centres, sums);
    creek::mapreduce::add_to_nearest(share, centres, dimensions, sums);
  });
}

}  // namespace creek_bench
