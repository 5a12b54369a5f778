// SPDX-License-Identifier: Apache-2.0
// k-means by Lloyd's rounds.
#include <creek/mapreduce/jobs/k_means.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <creek/core/error.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/rounds.hpp>
#include <creek/tasking/runtime.hpp>
#include <creek/tasking/this_worker.hpp>
#include <limits>
#include <random>
#include <unordered_set>

namespace creek::mapreduce {

namespace {

constexpr float greatest_coordinate = 1e15f;  // its square, times many dimensions, fits a float
constexpr std::size_t points_a_split = 8192;

void check_k_means(std::span<const float> points, const k_means_options& options) {
  const std::size_t d = options.dimensions, k = options.clusters;
  if (d == 0) throw usage_error("k-means: dimensions 0: must be 1 or more");
  if (points.size() % d != 0) {
    throw usage_error(fmt::format("k-means: {} coordinates do not make points of {} dimensions",
                                  points.size(), d));
  }
  const std::size_t n = points.size() / d;
  if (k == 0 || k > n || k > std::size_t{std::numeric_limits<std::int32_t>::max()}) {
    throw usage_error(fmt::format("k-means: {} clusters of {} points: must be 1 to {}", k, n, n));
  }
  if (options.most_rounds == 0) throw usage_error("k-means: 0 rounds: must be 1 or more");
  if (!(options.tolerance >= 0)) {
    throw usage_error(fmt::format("k-means: tolerance {}: must be 0 or more", options.tolerance));
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(std::abs(points[i]) <= greatest_coordinate)) {
      throw error(EDOM,
                  fmt::format("k-means: point {}: coordinate {} is {}, not a number of size at "
                              "most {}",
                              i / d, i % d, points[i], greatest_coordinate));
    }
  }
}

/// Returns `k` different numbers below `n`, in the order of their choice. Source: Floyd's algorithm
/// [Bentley 1987]; random numbers are reduced modulo, so that the result is the same with all
/// standard libraries.
std::vector<std::size_t> choose(std::size_t k, std::size_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::unordered_set<std::size_t> seen;
  std::vector<std::size_t> chosen;
  for (std::size_t last = n - k; last < n; ++last) {
    const std::size_t one = random() % (last + 1);
    chosen.push_back(seen.insert(one).second ? one : last);
    seen.insert(chosen.back());
  }
  return chosen;
}

/// Moves the centres to the means of their points and returns the furthest move.
double move_centres(std::span<const double> sums, std::size_t d, k_means_result& to) {
  double furthest = 0;
  for (std::size_t c = 0; c < to.sizes.size(); ++c) {
    const std::span<const double> row = sums.subspan(c * (d + 1), d + 1);
    to.sizes[c] = static_cast<std::uint64_t>(row[d]);
    if (to.sizes[c] == 0) continue;
    double squares = 0;
    for (std::size_t j = 0; j < d; ++j) {
      float& at = to.centres[c * d + j];
      const auto mean = static_cast<float>(row[j] / row[d]);
      const double move = static_cast<double>(mean) - static_cast<double>(at);
      squares += move * move;
      at = mean;
    }
    furthest = std::max(furthest, std::sqrt(squares));
  }
  to.inertia = sums[to.sizes.size() * (d + 1)];
  return furthest;
}

}  // namespace

k_means_result k_means(std::span<const float> points, const k_means_options& options) {
  check_k_means(points, options);
  if (this_worker() < 0) {
    runtime own;
    return own.run([&] { return k_means(points, options); });
  }
  const std::size_t d = options.dimensions;
  k_means_result made;
  made.sizes.resize(options.clusters);
  for (const std::size_t i : choose(options.clusters, points.size() / d, options.seed)) {
    const auto point = points.subspan(i * d, d);
    made.centres.insert(made.centres.end(), point.begin(), point.end());
  }
  span_input<float> from(points, points_a_split * d);
  rounds<k_means_round, span_input<float>> iterate(from, {.stop = options.stop});
  while (!made.converged && made.rounds < options.most_rounds) {
    const auto start = std::chrono::steady_clock::now();
    const auto sums = iterate.run(k_means_round{made.centres, d});
    made.converged = move_centres(sums, d, made) <= options.tolerance;
    made.round_time += std::chrono::steady_clock::now() - start;
    ++made.rounds;
  }
  return made;
}

}  // namespace creek::mapreduce
