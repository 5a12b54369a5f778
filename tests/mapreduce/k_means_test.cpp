// SPDX-License-Identifier: Apache-2.0
// k-means against sequential rounds in double.
#include <creek/core/error.hpp>
#include <creek/mapreduce.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace creek::mapreduce {
namespace {

/// Returns small integers, whose distances and sums are exact in any order.
std::vector<float> whole_coordinates(std::uint64_t seed, std::size_t count, int below) {
  std::mt19937_64 random(seed);
  std::vector<float> all(count);
  for (float& one : all) {
    one = static_cast<float>(random() % static_cast<std::uint64_t>(2 * below)) -
          static_cast<float>(below);
  }
  return all;
}

double distance2(const float* a, const float* b, std::size_t d) {
  double sum = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const double away = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    sum += away * away;
  }
  return sum;
}

std::size_t nearest_by_loop(const float* point, const std::vector<float>& centres, std::size_t d) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < centres.size() / d; ++c) {
    if (distance2(point, &centres[c * d], d) < distance2(point, &centres[best * d], d)) best = c;
  }
  return best;
}

std::vector<double> round_by_loop(const std::vector<float>& points,
                                  const std::vector<float>& centres, std::size_t d) {
  const std::size_t k = centres.size() / d;
  std::vector<double> sums(k * (d + 1) + 1);
  for (std::size_t at = 0; at < points.size(); at += d) {
    const std::size_t c = nearest_by_loop(&points[at], centres, d);
    for (std::size_t j = 0; j < d; ++j) {
      sums[c * (d + 1) + j] += static_cast<double>(points[at + j]);
    }
    sums[c * (d + 1) + d] += 1;
    sums.back() += distance2(&points[at], &centres[c * d], d);
  }
  return sums;
}

TEST(KMeans, RoundIsThatOfALoop) {
  for (const std::size_t d : {1u, 2u, 3u, 4u, 5u, 17u, 64u, 65u, 130u}) {
    for (const std::size_t k : {1u, 2u, 7u, 100u}) {
      for (const std::size_t n : {0u, 1u, 15u, 64u, 65u, 500u}) {
        const auto points = whole_coordinates(d + n, n * d, 50);
        const auto centres = whole_coordinates(d * k, k * d, 50);
        std::vector<double> sums(k * (d + 1) + 1);
        add_to_nearest(points, centres, d, sums);
        EXPECT_EQ(sums, round_by_loop(points, centres, d)) << d << ' ' << k << ' ' << n;
      }
    }
  }
}

/// Returns coordinates around `offset`, uniform in [0, spread).
std::vector<float> random_coordinates(std::mt19937_64& random, std::size_t count, double offset,
                                      double spread) {
  std::vector<float> all(count);
  for (float& one : all) {
    one = static_cast<float>(offset + spread * static_cast<double>(random() >> 11) * 0x1p-53);
  }
  return all;
}

std::uint64_t test_seed() {
  const char* const given = std::getenv("CREEK_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

/// The same points count for each centre, and their coordinates are added in the same order.
void expect_round(const std::vector<float>& points, const std::vector<float>& centres,
                  std::size_t d) {
  std::vector<double> sums(centres.size() / d * (d + 1) + 1);
  add_to_nearest(points, centres, d, sums);
  std::vector<double> expected = round_by_loop(points, centres, d);
  EXPECT_NEAR(sums.back(), expected.back(), 1e-12 * expected.back());
  sums.back() = expected.back();
  EXPECT_EQ(sums, expected) << d << " dimensions, " << centres.size() / d << " centres";
}

TEST(KMeans, RoundIsThatOfDoublePrecision) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const std::size_t d : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 33u, 64u, 65u, 260u, 300u}) {
    for (const std::size_t k : {1u, 3u, 16u, 17u, 100u}) {
      for (const double offset : {0.0, -1e3, 1e6, 1e14}) {
        for (const double spread : {1.0, 1e-30, 1e8}) {
          expect_round(random_coordinates(random, 70 * d, offset, spread),
                       random_coordinates(random, k * d, offset, spread), d);
        }
      }
    }
  }
}

TEST(KMeans, RoundOfPointsInSeveralDistantPlaces) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const std::size_t d : {1u, 3u, 8u, 70u}) {
    std::vector<float> points, centres;
    for (const double place : {0.0, 1e6, -1e5, 1e9}) {
      const auto some = random_coordinates(random, 99 * d, place, 1);
      const auto more = random_coordinates(random, 10 * d, place, 1);
      points.insert(points.end(), some.begin(), some.end());
      centres.insert(centres.end(), more.begin(), more.end());
    }
    expect_round(points, centres, d);
    centres.insert(centres.end(), centres.begin(), centres.end());  // none of the second half wins
    expect_round(points, centres, d);
  }
}

TEST(KMeans, RoundOfCoordinatesWithoutAFiniteDistance) {
  const float infinity = std::numeric_limits<float>::infinity(), largest = 3e38f;
  for (const float wrong : {std::nanf(""), infinity, -infinity}) {
    for (const std::size_t d : {1u, 3u, 5u}) {
      auto points = whole_coordinates(4, 70 * d, 9);
      auto centres = whole_coordinates(5, 20 * d, 9);
      points[33 * d] = wrong;  // has no distance to any centre, and counts for the first
      std::vector<double> sums(20 * (d + 1) + 1);
      add_to_nearest(points, centres, d, sums);
      EXPECT_FALSE(std::isfinite(sums[0]));
      EXPECT_FALSE(std::isfinite(sums.back()));
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(33 * d),
                   points.begin() + static_cast<std::ptrdiff_t>(34 * d));
      const auto expected = round_by_loop(points, centres, d);
      EXPECT_EQ(sums[d], expected[d] + 1);
      for (std::size_t i = d + 1; i + 1 < sums.size(); ++i) EXPECT_EQ(sums[i], expected[i]);
      centres[7 * d] = wrong;  // no point is near it
      std::vector<double> others(sums.size());
      add_to_nearest(points, centres, d, others);
      EXPECT_EQ(others[7 * (d + 1) + d], 0);
    }
  }
  const std::vector<float> points{largest, 0, -largest, 2e19f, 1e-40f};
  expect_round(points, {0, -largest, 1e19f, largest, 2e-40f}, 1);
}

TEST(KMeans, BoundsDoNotChangeTheResult) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE("CREEK_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (const std::size_t d : {1u, 2u, 3u, 5u, 9u, 33u, 70u}) {
    for (const std::size_t k : {1u, 2u, 17u, 130u}) {
      for (const double offset : {0.0, 1e6}) {
        auto points = random_coordinates(random, 1500 * d, offset, 1);
        if (k == 17) {  // points and centres with equal distances
          for (float& one : points) one = static_cast<float>(offset) + std::round(one * 8);
        }
        k_means_options chosen{.clusters = k,
                               .dimensions = d,
                               .seed = seed,
                               .max_rounds = 25,
                               .bounds = k_means_bounds::off};
        const auto plain = k_means(points, chosen);
        for (const auto bounds : {k_means_bounds::on, k_means_bounds::automatic}) {
          chosen.bounds = bounds;
          const auto made = k_means(points, chosen);
          EXPECT_EQ(made.centres, plain.centres) << d << ' ' << k << ' ' << offset;
          EXPECT_EQ(made.sizes, plain.sizes);
          EXPECT_EQ(made.inertia, plain.inertia);
          EXPECT_EQ(made.rounds, plain.rounds);
        }
      }
    }
  }
}

TEST(KMeans, RoundReadsNothingElseAndAddsToWhatIsThere) {
  // Reads up to the ends of exact allocations, for AddressSanitizer.
  for (const std::size_t d : {1u, 3u, 7u, 70u}) {
    const auto points = whole_coordinates(1, 33 * d, 9), centres = whole_coordinates(2, 3 * d, 9);
    std::vector<double> twice(3 * (d + 1) + 1);
    add_to_nearest(points, centres, d, twice);
    add_to_nearest(points, centres, d, twice);
    std::vector<double> once = round_by_loop(points, centres, d);
    for (double& sum : once) sum *= 2;
    EXPECT_EQ(twice, once);
  }
}

/// Returns clouds far from each other, in random order.
std::vector<float> clouds(std::uint64_t seed, std::size_t n, std::size_t d, std::size_t k) {
  std::mt19937_64 random(seed);
  std::vector<float> points(n * d);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t c = random() % k;
    for (std::size_t j = 0; j < d; ++j) {
      const double noise = static_cast<double>(random() % 10001) / 10000 - 0.5;
      points[i * d + j] =
          static_cast<float>(static_cast<double>((c + 1) * (j + 1) % (k + 3)) * 30 + noise);
    }
  }
  return points;
}

TEST(KMeans, ResultIsAFixedPoint) {
  constexpr std::size_t d = 3, k = 5;
  const auto points = clouds(1, 3000, d, k);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto made = k_means(points, {.clusters = k, .dimensions = d, .seed = seed});
    ASSERT_TRUE(made.converged);
    const auto sums = round_by_loop(points, made.centres, d);
    for (std::size_t c = 0; c < k; ++c) {
      const double size = sums[c * (d + 1) + d];
      EXPECT_EQ(static_cast<double>(made.sizes[c]), size);
      for (std::size_t j = 0; size != 0 && j < d; ++j) {
        EXPECT_EQ(made.centres[c * d + j], static_cast<float>(sums[c * (d + 1) + j] / size));
      }
    }
    EXPECT_NEAR(made.inertia / sums.back(), 1, 1e-4);
  }
}

TEST(KMeans, IsTheSameToTheBitForAllWorkers) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> points(3 * 40001);
  for (float& one : points) one = normal(random);
  for (const auto bounds : {k_means_bounds::off, k_means_bounds::on}) {
    const k_means_options chosen{
        .clusters = 20, .dimensions = 3, .seed = 3, .max_rounds = 10, .bounds = bounds};
    const auto one =
        runtime(scheduler_options{.workers = 1}).run([&] { return k_means(points, chosen); });
    for (const unsigned count : {2u, 5u}) {
      runtime rt(scheduler_options{.workers = count});
      const auto made = rt.run([&] { return k_means(points, chosen); });
      EXPECT_EQ(made.centres, one.centres);
      EXPECT_EQ(made.sizes, one.sizes);
      EXPECT_EQ(made.inertia, one.inertia);
    }
    EXPECT_EQ(one.rounds, 10u);
    EXPECT_FALSE(one.converged);
  }
}

TEST(KMeans, InertiaNeverGrows) {
  std::mt19937_64 random(6);
  std::normal_distribution<float> normal;
  std::vector<float> points(2 * 5000);
  for (float& one : points) one = normal(random);
  double before = std::numeric_limits<double>::infinity();
  for (std::size_t rounds = 1; rounds < 12; ++rounds) {
    const auto made = k_means(points, {.clusters = 9, .seed = 1, .max_rounds = rounds});
    EXPECT_LE(made.inertia, before * (1 + 1e-5));
    before = made.inertia;
  }
}

/// The k-means++ choice by one loop over doubles.
std::vector<float> far_points(const std::vector<float>& points, std::size_t d, std::size_t k,
                              std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t n = points.size() / d;
  std::vector<std::size_t> chosen{random() % n};
  while (chosen.size() < k) {
    std::vector<double> sums{0};
    for (std::size_t i = 0; i < n; ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t c : chosen) {
        least = std::min(least, distance2(&points[i * d], &points[c * d], d));
      }
      sums.push_back(sums.back() + least);
    }
    const double wanted = static_cast<double>(random() >> 11) * 0x1p-53 * sums.back();
    chosen.push_back(static_cast<std::size_t>(std::upper_bound(sums.begin(), sums.end(), wanted) -
                                              sums.begin() - 1));
  }
  std::vector<float> centres;
  for (const std::size_t c : chosen) {
    centres.insert(centres.end(), &points[c * d], &points[c * d] + d);
  }
  return centres;
}

/// Returns the first centres, which a round without a nearer point would not move.
std::vector<float> start_of(const std::vector<float>& points, k_means_options chosen) {
  const std::vector<double> sums =
      round_by_loop(points, far_points(points, chosen.dimensions, chosen.clusters, chosen.seed),
                    chosen.dimensions);
  std::vector<float> means;
  for (std::size_t c = 0; c < chosen.clusters; ++c) {
    const double* const row = &sums[c * (chosen.dimensions + 1)];
    for (std::size_t j = 0; j < chosen.dimensions; ++j) {
      means.push_back(static_cast<float>(row[j] / row[chosen.dimensions]));
    }
  }
  return means;
}

TEST(KMeans, PlusPlusPrefersDistantPoints) {
  for (const std::size_t d : {1u, 2u, 3u, 4u, 5u, 33u}) {
    // Whole numbers, whose weights and sums are exact in any order. More than one piece.
    auto points = whole_coordinates(d, 9001 * d, 200);
    const k_means_options chosen{.clusters = 12,
                                 .dimensions = d,
                                 .start = k_means_start::plus_plus,
                                 .seed = 11 + d,
                                 .max_rounds = 1};
    const auto expected = start_of(points, chosen);
    for (const unsigned workers : {1u, 3u}) {
      runtime rt(scheduler_options{.workers = workers});
      EXPECT_EQ(rt.run([&] { return k_means(points, chosen); }).centres, expected) << d;
    }
  }
}

TEST(KMeans, PlusPlusFindsEveryCloud) {
  constexpr std::size_t d = 3, k = 5;
  const auto points = clouds(1, 3000, d, k);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto made = k_means(
        points, {.clusters = k, .dimensions = d, .start = k_means_start::plus_plus, .seed = seed});
    EXPECT_LE(made.inertia, 3000 * 0.25 * d) << seed;
  }
}

TEST(KMeans, StartsFromTheFirstPoints) {
  const std::vector<float> points{0, 0, 5, 5, 9, 1, 10, 2, -3, 2};
  const auto made = k_means(
      points, {.clusters = 3, .dimensions = 2, .start = k_means_start::first, .max_rounds = 1});
  EXPECT_EQ(made.centres, (std::vector<float>{-1.5f, 1, 5, 5, 9.5f, 1.5f}));
}

TEST(KMeans, PlusPlusOfEqualPoints) {
  const std::vector<float> points{7, 7, 7, 8, 7, 7};
  for (std::uint64_t seed = 0; seed < 9; ++seed) {
    for (const std::size_t k : {2u, 4u, 6u}) {
      const auto made = k_means(
          points,
          {.clusters = k, .dimensions = 1, .start = k_means_start::plus_plus, .seed = seed});
      EXPECT_EQ(made.inertia, 0);
      EXPECT_EQ(std::ranges::count(made.centres, 8.0f), 1);
    }
  }
}

TEST(KMeans, EveryPointItsOwnCluster) {
  const std::vector<float> points{0, 0, 5, 5, 9, 1, -3, 2};
  const auto made = k_means(points, {.clusters = 4, .dimensions = 2});
  EXPECT_EQ(made.sizes, (std::vector<std::uint64_t>{1, 1, 1, 1}));
  EXPECT_EQ(made.inertia, 0);
  std::set<float> x;
  for (std::size_t c = 0; c < 4; ++c) x.insert(made.centres[2 * c]);
  EXPECT_EQ(x, (std::set<float>{-3, 0, 5, 9}));
}

TEST(KMeans, EqualPointsLeaveCentresEmpty) {
  const std::vector<float> points(20, 7);
  const auto made = k_means(points, {.clusters = 3, .dimensions = 2});
  EXPECT_TRUE(made.converged);
  EXPECT_EQ(made.sizes, (std::vector<std::uint64_t>{10, 0, 0}));
}

TEST(KMeans, RefusesWhatItCannotDo) {
  std::vector<float> points(12, 1);
  EXPECT_THROW((void)k_means(points, {.clusters = 7, .dimensions = 2}), usage_error);
  EXPECT_THROW((void)k_means(points, {.clusters = 0, .dimensions = 2}), usage_error);
  EXPECT_THROW((void)k_means(points, {.clusters = 1, .dimensions = 0}), usage_error);
  EXPECT_THROW((void)k_means(points, {.clusters = 1, .dimensions = 5}), usage_error);
  EXPECT_THROW((void)k_means({}, {.clusters = 1, .dimensions = 2}), usage_error);
  EXPECT_THROW((void)k_means(points, {.clusters = 1, .dimensions = 2, .max_rounds = 0}),
               usage_error);
  EXPECT_THROW((void)k_means(points, {.clusters = 1, .dimensions = 2, .tolerance = -1}),
               usage_error);
  for (const float wrong : {std::nanf(""), std::numeric_limits<float>::infinity(), -2e15f}) {
    points[7] = wrong;
    try {
      (void)k_means(points, {.clusters = 1, .dimensions = 2});
      FAIL() << wrong;
    } catch (const error& e) {
      EXPECT_NE(std::string(e.what()).find("point 3: coordinate 1"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace creek::mapreduce
