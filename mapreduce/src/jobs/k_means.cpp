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
#include <functional>
#include <limits>
#include <optional>

#include "jobs/first_centres.hpp"
#include "jobs/nearest_centres.hpp"

namespace creek::mapreduce {

namespace {

constexpr float greatest_coordinate = 1e15f;  // its square, times many dimensions, fits a float
using detail::points_a_split;

/// Returns the number of the points.
std::size_t count_points(std::span<const float> points, const k_means_options& options) {
  const std::size_t d = options.dimensions;
  if (d == 0) throw usage_error("k-means: dimensions 0: must be 1 or more");
  if (points.size() % d != 0) {
    throw usage_error(fmt::format("k-means: {} coordinates do not make points of {} dimensions",
                                  points.size(), d));
  }
  return points.size() / d;
}

void check_options(std::size_t n, const k_means_options& options) {
  const std::size_t k = options.clusters;
  if (k == 0 || k > n || k > std::size_t{std::numeric_limits<std::int32_t>::max()}) {
    throw usage_error(fmt::format("k-means: {} clusters of {} points: must be 1 to {}", k, n, n));
  }
  if (options.max_rounds == 0) throw usage_error("k-means: 0 rounds: must be 1 or more");
  if (!(options.tolerance >= 0)) {
    throw usage_error(fmt::format("k-means: tolerance {}: must be 0 or more", options.tolerance));
  }
}

/// Checks the coordinates of points, the first of which is point `first` of all.
void check_points(std::span<const float> points, std::size_t first, std::size_t d) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!(std::abs(points[i]) <= greatest_coordinate)) {
      throw error(EDOM,
                  fmt::format("k-means: point {}: coordinate {} is {}, not a number of size at "
                              "most {}",
                              first + i / d, i % d, points[i], greatest_coordinate));
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

/// Runs the rounds over `points`, which are all `n` or a part of them, from the centres that `made`
/// has. `sum_up(job)` returns the sums of a round over all points; `in_task(f)` calls `f` in a
/// task.
template <class SumUp, class InTask>
void run_rounds(std::span<const float> points, std::size_t n, const k_means_options& options,
                k_means_result& made, SumUp sum_up, InTask in_task) {
  const std::size_t d = options.dimensions;
  made.sizes.resize(options.clusters);
  std::optional<bounded_rounds> bounds;
  const auto first_bounded = first_bounded_round(n, options);
  while (!made.converged && made.rounds < options.max_rounds) {
    const auto start = std::chrono::steady_clock::now();
    if (made.rounds == first_bounded) bounds.emplace(points, options.clusters, d);
    const std::span<const double> sums =
        sum_up(driven_round{{made.centres, d}, bounds ? &*bounds : nullptr});
    const std::vector<double> moves = move_centres(sums, d, made);
    made.converged = std::ranges::max(moves) <= options.tolerance;
    ++made.rounds;
    if (bounds && !made.converged && made.rounds < options.max_rounds) {
      in_task([&] { bounds->follow(made.centres, moves); });
    }
    made.round_time += std::chrono::steady_clock::now() - start;
  }
}

/// Returns the parts of `n` points that a rank has.
own_parts parts_of_rank(std::size_t n, int rank, int ranks) {
  const ordered_parts all{(n + points_a_split - 1) / points_a_split};
  const auto at = static_cast<std::size_t>(rank), size = static_cast<std::size_t>(ranks);
  return {all, at * all.count() / size, (at + 1) * all.count() / size};
}

}  // namespace

k_means_result k_means(std::span<const float> points, const k_means_options& options) {
  const std::size_t n = count_points(points, options);
  check_options(n, options);
  check_points(points, 0, options.dimensions);
  if (this_worker() < 0) {
    runtime own;
    return own.run([&] { return k_means(points, options); });
  }
  const std::size_t d = options.dimensions;
  k_means_result made;
  for (const std::size_t i : detail::first_centres(points, options)) {
    const auto point = points.subspan(i * d, d);
    made.centres.insert(made.centres.end(), point.begin(), point.end());
  }
  span_input<float> from(points, points_a_split * d);
  rounds<driven_round, span_input<float>> iterate(from, {.stop = options.stop});
  run_rounds(
      points, n, options, made, [&](const driven_round& job) { return iterate.run(job); },
      [](auto&& f) { f(); });
  return made;
}

point_range k_means_share(std::size_t n, int rank, int ranks) {
  const own_parts mine = parts_of_rank(n, rank, ranks);
  const std::size_t first = std::min(n, mine.of.begin(mine.first) * points_a_split);
  return {first, std::min(n, mine.of.begin(mine.end) * points_a_split) - first};
}

k_means_result k_means_on_machines(std::span<const float> points, any_communicator& ranks,
                                   runtime& rt, const k_means_options& options) {
  const std::size_t own = count_points(points, options), d = options.dimensions;
  std::size_t n = ranks.reduce(own, std::plus{}, 0);
  if (ranks.rank() == 0) check_options(n, options);  // one rank reports a fault
  n = ranks.bcast(n, 0);
  const point_range share = k_means_share(n, ranks.rank(), ranks.size());
  if (own != share.count) {
    throw usage_error(fmt::format("k-means: {} points on rank {}, whose share of {} is {}", own,
                                  ranks.rank(), n, share.count));
  }
  check_points(points, share.first, d);
  k_means_result made;
  ranks.doing("choosing centres");
  made.centres = detail::first_centres_on_ranks(points, n, ranks, rt, options);
  span_input<float> from(points, points_a_split * d);
  rounds<driven_round, span_input<float>> iterate(
      from, parts_of_rank(n, ranks.rank(), ranks.size()), {.stop = options.stop});
  // From rank to rank, so that the parts are added in the order in which one process adds them.
  std::vector<double> sums;
  const auto sum_up = [&](const driven_round& job) {
    ranks.doing("computing a round");
    sums.assign(job.dense_keys(), 0.0);
    rt.run([&] { iterate.fill(job); });
    ranks.doing("adding up a round");
    if (ranks.rank() > 0) ranks.recv(std::span(sums), ranks.rank() - 1);
    rt.run([&] { iterate.combine_into(job, sums); });
    const int last = ranks.size() - 1;
    if (ranks.rank() < last) ranks.send(std::span<const double>(sums), ranks.rank() + 1);
    ranks.bcast(std::span(sums), last);
    return std::span<const double>(sums);
  };
  run_rounds(points, n, options, made, sum_up, [&](auto&& f) { rt.run(f); });
  ranks.doing("");
  return made;
}

}  // namespace creek::mapreduce
