// SPDX-License-Identifier: Apache-2.0
// First centres of k-means: at random, the first points, or k-means++ [Arthur 2007]. For the
// latter, every point has a weight, its squared distance to the nearest centre so far, which each
// new centre lowers. This source is compiled without contraction to multiply-adds, and sums have a
// fixed order, so that the choice is the same for all instruction sets.
#include "jobs/first_centres.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <unordered_set>

#include <creek/core/charge.hpp>
#include <creek/core/error.hpp>
#include <creek/mapreduce/detail/parallel.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jobs/first_centres.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using weight_tag = hn::ScalableTag<float>;

template <std::size_t Fixed>
HWY_INLINE void load_coordinates(const float* rows, hn::Vec<weight_tag> (&x)[4]) {
  const weight_tag d;
  if constexpr (Fixed == 1) {
    x[0] = hn::LoadU(d, rows);
  } else if constexpr (Fixed == 2) {
    hn::LoadInterleaved2(d, rows, x[0], x[1]);
  } else if constexpr (Fixed == 3) {
    hn::LoadInterleaved3(d, rows, x[0], x[1], x[2]);
  } else if constexpr (Fixed == 4) {
    hn::LoadInterleaved4(d, rows, x[0], x[1], x[2], x[3]);
  }
}

/// Lowers weights to the squared distances to `centre`. `Fixed` dimensions; 0: any.
template <std::size_t Fixed>
void lower_by(const float* points, std::size_t n, const float* centre, std::size_t dimensions,
              float* weights) {
  const weight_tag d;
  const hn::RebindToSigned<weight_tag> di;
  const std::size_t lanes = hn::Lanes(d);
  const auto starts = hn::Mul(hn::Iota(di, 0), hn::Set(di, static_cast<std::int32_t>(dimensions)));
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const float* const rows = points + i * dimensions;
    hn::Vec<weight_tag> x[4];
    load_coordinates<Fixed>(rows, x);
    auto sum = hn::Zero(d);
    for (std::size_t j = 0; j < (Fixed != 0 ? Fixed : dimensions); ++j) {
      const auto at = Fixed != 0 ? x[j % 4] : hn::GatherIndex(d, rows + j, starts);
      const auto away = hn::Sub(at, hn::Set(d, centre[j]));
      sum = hn::Add(sum, hn::Mul(away, away));
    }
    hn::StoreU(hn::Min(sum, hn::LoadU(d, weights + i)), d, weights + i);
  }
  for (; i < n; ++i) {
    float sum = 0;
    for (std::size_t j = 0; j < dimensions; ++j) {
      const float away = points[i * dimensions + j] - centre[j];
      sum += away * away;
    }
    weights[i] = std::min(weights[i], sum);
  }
}

void lower_weights(const float* points, std::size_t n, const float* centre, std::size_t dimensions,
                   float* weights) {
  switch (dimensions) {
    case 1:
      return lower_by<1>(points, n, centre, 1, weights);
    case 2:
      return lower_by<2>(points, n, centre, 2, weights);
    case 3:
      return lower_by<3>(points, n, centre, 3, weights);
    case 4:
      return lower_by<4>(points, n, centre, 4, weights);
    default:
      return lower_by<0>(points, n, centre, dimensions, weights);
  }
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce {

HWY_EXPORT(lower_weights);

namespace {

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

constexpr std::size_t piece = detail::points_a_split;  // points that one task processes

/// The weights of the points in this process.
class point_weights {
 public:
  point_weights(std::span<const float> points, std::size_t dimensions)
      : points_(points),
        dimensions_(dimensions),
        weights_(points.size() / dimensions, std::numeric_limits<float>::infinity()),
        sums_((weights_.size() + piece - 1) / piece) {}

  /// Takes a point for a centre. Called by a task.
  void lower(const float* centre) {
    detail::for_each_index(sums_.size(), [&](std::size_t p) {
      const std::size_t from = p * piece, count = std::min(piece, weights_.size() - from);
      charge(work::flop, static_cast<std::int64_t>(3 * count * dimensions_));
      HWY_DYNAMIC_DISPATCH(lower_weights)
      (&points_[from * dimensions_], count, centre, dimensions_, &weights_[from]);
      sums_[p] = sum({&weights_[from], count});
    });
  }
  void remove(std::size_t i) { weights_[i] = 0; }

  /// The sum of the weights of each piece.
  [[nodiscard]] const std::vector<double>& sums() const { return sums_; }

  /// Returns the point in piece `p` at which the sum of the weights exceeds `left`. The point has a
  /// weight.
  [[nodiscard]] std::size_t at(std::size_t p, double left) const {
    std::size_t found = 0;
    const std::size_t end = std::min(weights_.size(), (p + 1) * piece);
    for (std::size_t i = p * piece; i < end && left >= 0; ++i) {
      if (weights_[i] == 0) continue;
      found = i;
      left -= static_cast<double>(weights_[i]);
    }
    return found;
  }

 private:
  static double sum(std::span<const float> weights) {
    std::array<double, 8> sums{};
    std::size_t i = 0;
    for (; i + sums.size() <= weights.size(); i += sums.size()) {
      for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += static_cast<double>(weights[i + s]);
    }
    for (; i < weights.size(); ++i) sums[0] += static_cast<double>(weights[i]);
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  std::span<const float> points_;
  std::size_t dimensions_;
  std::vector<float> weights_;
  std::vector<double> sums_;  // per piece
};

/// A piece, and what is left there of a share of the total weight.
struct place_of_share {
  std::size_t piece;
  double left;
};
place_of_share find_share(std::span<const double> sums, double left) {
  std::size_t p = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i] == 0) continue;
    p = i;
    if (left < sums[i]) break;
    left -= sums[i];
  }
  return {p, left};
}

/// All points, in this process. Called by a task.
class points_here {
 public:
  points_here(std::span<const float> points, std::size_t dimensions)
      : points_(points), dimensions_(dimensions), weights_(points, dimensions) {}

  void take(std::size_t i) {
    weights_.lower(&points_[i * dimensions_]);
    weights_.remove(i);
  }
  [[nodiscard]] std::span<const double> sums() const { return weights_.sums(); }
  [[nodiscard]] std::size_t at(const place_of_share& share) const {
    return weights_.at(share.piece, share.left);
  }

 private:
  std::span<const float> points_;
  std::size_t dimensions_;
  point_weights weights_;
};

/// The points of all ranks; every rank calls the same functions.
class points_of_ranks {
 public:
  points_of_ranks(std::span<const float> points, std::size_t all, std::size_t dimensions,
                  any_communicator& ranks, runtime& rt)
      : points_(points), dimensions_(dimensions), ranks_(&ranks), rt_(&rt) {
    for (int rank = 0; rank < ranks.size(); ++rank) {
      first_.push_back(k_means_share(all, rank, ranks.size()).first);
    }
    first_.push_back(all);
  }

  /// Returns the coordinates of point `i`.
  [[nodiscard]] std::vector<float> point(std::size_t i) {
    std::vector<float> one(dimensions_);
    const int root = owner(i);
    if (root == ranks_->rank()) {
      std::ranges::copy(points_.subspan((i - own_first()) * dimensions_, dimensions_), one.begin());
    }
    ranks_->bcast(std::span(one), root);
    return one;
  }
  void take(std::size_t i) {
    if (!weights_) weights_.emplace(points_, dimensions_);
    const std::vector<float> centre = point(i);
    rt_->run([&] { weights_->lower(centre.data()); });
    if (owner(i) == ranks_->rank()) weights_->remove(i - own_first());
    sums_.resize((first_.back() + piece - 1) / piece);
    std::ranges::copy(weights_->sums(), pieces_of(ranks_->rank()).begin());
    for (int rank = 0; rank < ranks_->size(); ++rank) ranks_->bcast(pieces_of(rank), rank);
  }
  [[nodiscard]] std::span<const double> sums() const { return sums_; }
  [[nodiscard]] std::size_t at(const place_of_share& share) {
    const int root = owner(share.piece * piece);
    std::size_t found = 0;
    if (root == ranks_->rank()) {
      found = own_first() + weights_->at(share.piece - own_first() / piece, share.left);
    }
    return ranks_->bcast(found, root);
  }

 private:
  [[nodiscard]] std::size_t own_first() const {
    return first_[static_cast<std::size_t>(ranks_->rank())];
  }
  [[nodiscard]] int owner(std::size_t i) const {
    return static_cast<int>(std::ranges::upper_bound(first_, i) - first_.begin()) - 1;
  }
  [[nodiscard]] std::span<double> pieces_of(int rank) {
    const auto at = static_cast<std::size_t>(rank);
    const std::size_t from = (first_[at] + piece - 1) / piece;
    return std::span(sums_).subspan(from, (first_[at + 1] + piece - 1) / piece - from);
  }

  std::span<const float> points_;
  std::size_t dimensions_;
  any_communicator* ranks_;
  runtime* rt_;
  std::vector<std::size_t> first_;  // point of each rank, and the number of all points
  std::optional<point_weights> weights_;
  std::vector<double> sums_;  // per piece of all ranks
};

/// Chooses by k-means++ out of `n` points.
template <class Points>
std::vector<std::size_t> choose_by_distance(Points&& points, std::size_t n,
                                            const k_means_options& options) {
  std::mt19937_64 random(options.seed);
  std::vector<std::size_t> chosen{random() % n};
  while (chosen.size() < options.clusters) {
    if (options.stop.stop_requested()) throw error(ECANCELED, "k-means");
    points.take(chosen.back());
    const std::span<const double> sums = points.sums();
    const double total = std::accumulate(sums.begin(), sums.end(), 0.0);
    if (total == 0) break;
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    chosen.push_back(points.at(find_share(sums, share * total)));
  }
  const std::unordered_set<std::size_t> seen(chosen.begin(), chosen.end());
  for (std::size_t i = 0; chosen.size() < options.clusters; ++i) {  // no other point differs
    if (!seen.contains(i)) chosen.push_back(i);
  }
  return chosen;
}

/// Chooses out of `n` points without looking at them.
std::vector<std::size_t> choose_unseen(std::size_t n, const k_means_options& options) {
  if (options.start == k_means_start::random) return choose(options.clusters, n, options.seed);
  std::vector<std::size_t> chosen(options.clusters);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  return chosen;
}

}  // namespace

std::vector<std::size_t> detail::first_centres(std::span<const float> points,
                                               const k_means_options& options) {
  const std::size_t n = points.size() / options.dimensions;
  if (options.start != k_means_start::plus_plus) return choose_unseen(n, options);
  return choose_by_distance(points_here(points, options.dimensions), n, options);
}

std::vector<float> detail::first_centres_on_ranks(std::span<const float> points, std::size_t all,
                                                  any_communicator& ranks, runtime& rt,
                                                  const k_means_options& options) {
  points_of_ranks shared(points, all, options.dimensions, ranks, rt);
  const std::vector<std::size_t> chosen = options.start == k_means_start::plus_plus
                                              ? choose_by_distance(shared, all, options)
                                              : choose_unseen(all, options);
  std::vector<float> centres;
  for (const std::size_t i : chosen) {
    const std::vector<float> one = shared.point(i);
    centres.insert(centres.end(), one.begin(), one.end());
  }
  return centres;
}

}  // namespace creek::mapreduce
#endif
