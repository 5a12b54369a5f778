// SPDX-License-Identifier: Apache-2.0
// k-means by Lloyd's rounds.
#include <creek/mapreduce/jobs/k_means.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <creek/core/error.hpp>
#include <creek/core/execution_observer.hpp>
#include <creek/mapreduce/detail/parallel.hpp>
#include <creek/mapreduce/input.hpp>
#include <creek/mapreduce/rounds.hpp>
#include <creek/tasking/runtime.hpp>
#include <creek/tasking/this_worker.hpp>
#include <limits>
#include <optional>

#include "jobs/first_centres.hpp"
#include "jobs/nearest_centres.hpp"

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

/// Moves the centres to the means of their points. Returns the move of each.
std::vector<double> move_centres(std::span<const double> sums, std::size_t d, k_means_result& to) {
  std::vector<double> moves(to.sizes.size());
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
    moves[c] = std::sqrt(squares);
  }
  to.inertia = sums[to.sizes.size() * (d + 1)];
  return moves;
}

/// Bounds, and what they need from one round to the next.
class bounded_rounds {
 public:
  bounded_rounds(std::span<const float> points, std::size_t clusters, std::size_t dimensions)
      : points_(points),
        dimensions_(dimensions),
        nearest_(points.size() / dimensions),
        lower_(nearest_.size()),
        half_gap_(clusters) {}

  void fill(std::span<const float> split, std::span<const float> centres, std::span<double> into) {
    const auto at = static_cast<std::size_t>(split.data() - points_.data()) / dimensions_;
    detail::find_nearest(split, centres, dimensions_, {&nearest_[at], &lower_[at]},
                         moves_.half_gap.empty() ? nullptr : &moves_, into);
  }

  /// Prepares the next round, after the centres have moved.
  void follow(std::span<const float> centres, std::span<const double> moves) {
    find_half_gaps(centres);
    const auto furthest = std::ranges::max_element(moves);
    double others = 0;
    for (auto at = moves.begin(); at != moves.end(); ++at) {
      if (at != furthest) others = std::max(others, *at);
    }
    moves_ = {.half_gap = half_gap_,
              .furthest = static_cast<std::size_t>(furthest - moves.begin()),
              .longest = at_least(*furthest),
              .others = at_least(others)};
  }

 private:
  static float at_least(double x) {
    return static_cast<float>(x * (1 + 1e-6)) + std::numeric_limits<float>::min();
  }
  void find_half_gaps(std::span<const float> centres) {
    const std::size_t k = half_gap_.size(), chunk = 256;
    std::vector<std::int32_t> nearest(k);
    detail::for_each_index((k + chunk - 1) / chunk, [&](std::size_t i) {
      const std::size_t from = i * chunk, count = std::min(chunk, k - from);
      detail::find_nearest(centres.subspan(from * dimensions_, count * dimensions_), centres,
                           dimensions_, {&nearest[from], &half_gap_[from]}, nullptr, {});
    });
    for (float& gap : half_gap_) gap *= 0.5f * (1 - 0x1p-22f);
  }

  std::span<const float> points_;
  std::size_t dimensions_;
  std::vector<std::int32_t> nearest_;
  std::vector<float> lower_;
  std::vector<float> half_gap_;
  detail::centre_moves moves_{};
};

/// A round of k_means(): k_means_round, or the same with bounds.
struct driven_round {
  using key_type = std::size_t;
  using value_type = double;
  static constexpr bool in_order = true;

  k_means_round plain;
  bounded_rounds* bounds;

  [[nodiscard]] std::size_t dense_keys() const { return plain.dense_keys(); }
  void fill(std::span<const float> points, std::span<double> into) const {
    if (bounds == nullptr) return plain.fill(points, into);
    bounds->fill(points, plain.centres, into);
  }
  static void combine(double& into, double from) noexcept { into += from; }
};

/// Returns the round from which on bounds are kept, if any. They save time if comparing a point
/// with all centres takes several times as long as looking at its bounds, and once the centres no
/// longer move far; both limits are measured ones. The arithmetic of bounds is that of the
/// processor's vectors, so the number of comparisons, which an observer is told, is not the same on
/// all machines.
std::optional<std::size_t> first_bounded_round(std::size_t n, const k_means_options& options) {
  const std::size_t k = options.clusters;
  constexpr std::size_t max_coordinates = std::numeric_limits<std::int32_t>::max();
  if (k * options.dimensions > max_coordinates) return std::nullopt;
  if (options.bounds == k_means_bounds::off) return std::nullopt;
  if (options.bounds == k_means_bounds::on) return 0;
  if (k < 64 || n < 16 * k || execution_observer::current() != nullptr) return std::nullopt;
  return 4;
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
  for (const std::size_t i : detail::first_centres(points, options)) {
    const auto point = points.subspan(i * d, d);
    made.centres.insert(made.centres.end(), point.begin(), point.end());
  }
  std::optional<bounded_rounds> bounds;
  const auto first_bounded = first_bounded_round(points.size() / d, options);
  span_input<float> from(points, points_a_split * d);
  rounds<driven_round, span_input<float>> iterate(from, {.stop = options.stop});
  while (!made.converged && made.rounds < options.most_rounds) {
    const auto start = std::chrono::steady_clock::now();
    if (made.rounds == first_bounded) bounds.emplace(points, options.clusters, d);
    const auto sums = iterate.run({{made.centres, d}, bounds ? &*bounds : nullptr});
    const std::vector<double> moves = move_centres(sums, d, made);
    made.converged = std::ranges::max(moves) <= options.tolerance;
    ++made.rounds;
    if (bounds && !made.converged && made.rounds < options.most_rounds) {
      bounds->follow(made.centres, moves);
    }
    made.round_time += std::chrono::steady_clock::now() - start;
  }
  return made;
}

}  // namespace creek::mapreduce
