// SPDX-License-Identifier: Apache-2.0
// Histograms and lines of best fit against plain loops.
#include <creek/mapreduce.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace creek::mapreduce {
namespace {

std::vector<pixel> random_pixels(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<pixel> pixels(count);
  for (pixel& p : pixels) {
    const std::uint64_t r = random();
    p.colour = {static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(r >> 8 & r >> 16),
                static_cast<std::uint8_t>(r % 5 == 0 ? r >> 24 : 255)};
  }
  return pixels;
}

std::array<std::uint64_t, 768> colours_by_loop(std::span<const pixel> pixels) {
  std::array<std::uint64_t, 768> counts{};
  for (const pixel& p : pixels) {
    for (std::size_t c = 0; c < 3; ++c) ++counts[256 * c + p.colour[c]];
  }
  return counts;
}

TEST(ColourHistogram, KernelCountsAnyNumberAtAnyAddress) {
  const auto pixels = random_pixels(1, 400);
  for (std::size_t from = 0; from < 9; ++from) {
    for (std::size_t count = 0; count < 100; ++count) {
      const auto some = std::span(pixels).subspan(from, count);
      std::array<std::uint64_t, 768> counts{};
      count_colours(some, counts);
      EXPECT_EQ(counts, colours_by_loop(some)) << from << ' ' << count;
    }
  }
}

TEST(ColourHistogram, JobAgreesForAllWorkers) {
  const auto pixels = random_pixels(2, 100003);
  const auto expected = colours_by_loop(pixels);
  for (const unsigned count : {1u, 2u, 5u}) {
    runtime rt(scheduler_options{.workers = count});
    const auto made = rt.run(
        [&] { return run(colour_histogram{}, std::span<const pixel>(pixels), {.split = 1000}); });
    ASSERT_EQ(made.size(), 768u);
    for (std::size_t k = 0; k < 768; ++k) EXPECT_EQ(made[k].value, expected[k]) << k;
  }
}

template <class Sum, class Point>
std::array<Sum, 5> line_sums_by_loop(std::span<const Point> points) {
  std::array<Sum, 5> sums{};
  for (const Point& p : points) {
    const Sum x = p.x, y = p.y;
    sums[0] += x;
    sums[1] += y;
    sums[2] += x * x;
    sums[3] += y * y;
    sums[4] += x * y;
  }
  return sums;
}

template <class Point>
std::vector<Point> random_points(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Point> points(count);
  for (Point& p : points) {
    p.x = static_cast<std::uint8_t>(random());
    p.y = static_cast<std::uint8_t>(p.x / 2 + random() % 100);
  }
  return points;
}

TEST(LineFit, KernelsAddAnyNumberOfPoints) {
  const auto bytes = random_points<byte_point>(3, 400);
  const auto reals = random_points<real_point>(4, 400);  // whole numbers: exact in any order
  for (std::size_t from = 0; from < 5; ++from) {
    for (std::size_t count = 0; count < 200; ++count) {
      std::array<std::uint64_t, 5> whole{};
      add_line_sums(std::span(bytes).subspan(from, count), whole);
      EXPECT_EQ(
          whole,
          (line_sums_by_loop<std::uint64_t, byte_point>(std::span(bytes).subspan(from, count))));
      std::array<double, 5> sums{};
      add_line_sums(std::span(reals).subspan(from, count), sums);
      EXPECT_EQ(sums,
                (line_sums_by_loop<double, real_point>(std::span(reals).subspan(from, count))));
    }
  }
}

TEST(LineFit, GreatestBytesDoNotOverflow) {
  const std::vector<byte_point> points(3'000'001, byte_point{255, 255});
  std::array<std::uint64_t, 5> sums{};
  add_line_sums(points, sums);
  const std::uint64_t n = points.size(), sum = 255 * n, squares = 255 * 255 * n;
  EXPECT_EQ(sums, (std::array<std::uint64_t, 5>{sum, sum, squares, squares, squares}));
}

TEST(LineFit, JobAgreesForAllWorkers) {
  const auto bytes = random_points<byte_point>(5, 200001);
  const auto reals = random_points<real_point>(6, 200001);
  const auto whole = line_sums_by_loop<std::uint64_t, byte_point>(bytes);
  const auto sums = line_sums_by_loop<double, real_point>(reals);
  for (const unsigned count : {1u, 2u, 5u}) {
    runtime rt(scheduler_options{.workers = count});
    rt.run([&] {
      const auto first =
          run(line_fit<byte_point>{}, std::span<const byte_point>(bytes), {.split = 1000});
      const auto second =
          run(line_fit<real_point>{}, std::span<const real_point>(reals), {.split = 1000});
      for (std::size_t k = 0; k < 5; ++k) {
        EXPECT_EQ(first[k].value, whole[k]);
        EXPECT_EQ(second[k].value, sums[k]);
      }
    });
  }
}

TEST(LineFit, FindsTheLine) {
  std::vector<real_point> points;
  for (int i = 0; i < 100; ++i) points.push_back({0.5 * i - 10, 3 - 2 * (0.5 * i - 10)});
  auto sums = line_sums_by_loop<double, real_point>(points);
  fitted_line line = fit_line(points.size(), sums);
  EXPECT_NEAR(line.slope, -2, 1e-12);
  EXPECT_NEAR(line.intercept, 3, 1e-11);
  EXPECT_NEAR(line.r_squared, 1, 1e-12);

  const std::vector<byte_point> four{{0, 1}, {1, 3}, {2, 5}, {3, 6}};  // computed by hand: 1.7, 1.2
  line = fit_line(4, line_sums_by_loop<std::uint64_t, byte_point>(four));
  EXPECT_NEAR(line.slope, 1.7, 1e-15);
  EXPECT_NEAR(line.intercept, 1.2, 1e-15);
  EXPECT_NEAR(line.r_squared, 14.45 / 14.75, 1e-15);
}

TEST(LineFit, HasNoLineWhereThereIsNone) {
  EXPECT_TRUE(std::isnan(fit_line(0, std::array<std::uint64_t, 5>{}).slope));
  const std::vector<byte_point> same(7, byte_point{9, 3});
  EXPECT_TRUE(std::isnan(fit_line(7, line_sums_by_loop<std::uint64_t, byte_point>(same)).slope));
  const std::vector<real_point> tenths(1000, real_point{0.1, 7});
  EXPECT_TRUE(std::isnan(fit_line(1000, line_sums_by_loop<double, real_point>(tenths)).slope));
  const std::vector<byte_point> flat{{1, 5}, {2, 5}};
  const fitted_line line = fit_line(2, line_sums_by_loop<std::uint64_t, byte_point>(flat));
  EXPECT_EQ(line.slope, 0);
  EXPECT_EQ(line.intercept, 5);
  EXPECT_TRUE(std::isnan(line.r_squared));
}

}  // namespace
}  // namespace creek::mapreduce
