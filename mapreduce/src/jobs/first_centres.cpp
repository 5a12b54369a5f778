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

/// The weights of all points, in pieces that tasks process.
class point_weights {
 public:
  point_weights(std::span<const float> points, std::size_t dimensions)
      : points_(points),
        dimensions_(dimensions),
        weights_(points.size() / dimensions, std::numeric_limits<float>::infinity()),
        sums_((weights_.size() + piece - 1) / piece) {}

  /// Takes point `i` for a centre.
  void take(std::size_t i) {
    const float* const centre = &points_[i * dimensions_];
    detail::for_each_index(sums_.size(), [&](std::size_t p) {
      const std::size_t from = p * piece, count = std::min(piece, weights_.size() - from);
      charge(work::flop, static_cast<std::int64_t>(3 * count * dimensions_));
      HWY_DYNAMIC_DISPATCH(lower_weights)
      (&points_[from * dimensions_], count, centre, dimensions_, &weights_[from]);
      sums_[p] = sum({&weights_[from], count});
    });
    weights_[i] = 0;
  }

  [[nodiscard]] double total() const { return std::accumulate(sums_.begin(), sums_.end(), 0.0); }

  /// Returns the point at which the sum of the weights exceeds `share` of their total, which is not
  /// 0. The point has a weight.
  [[nodiscard]] std::size_t at(double share) const {
    double left = share * total();
    std::size_t p = 0, found = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i] == 0) continue;
      p = i;
      if (left < sums_[i]) break;
      left -= sums_[i];
    }
    const std::size_t end = std::min(weights_.size(), (p + 1) * piece);
    for (std::size_t i = p * piece; i < end && left >= 0; ++i) {
      if (weights_[i] == 0) continue;
      found = i;
      left -= static_cast<double>(weights_[i]);
    }
    return found;
  }

 private:
  static constexpr std::size_t piece = 8192;

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

std::vector<std::size_t> choose_by_distance(std::span<const float> points,
                                            const k_means_options& options) {
  const std::size_t n = points.size() / options.dimensions;
  std::mt19937_64 random(options.seed);
  std::vector<std::size_t> chosen{random() % n};
  point_weights weights(points, options.dimensions);
  while (chosen.size() < options.clusters) {
    if (options.stop.stop_requested()) throw error(ECANCELED, "k-means");
    weights.take(chosen.back());
    if (weights.total() == 0) break;
    chosen.push_back(weights.at(static_cast<double>(random() >> 11) * 0x1p-53));
  }
  const std::unordered_set<std::size_t> seen(chosen.begin(), chosen.end());
  for (std::size_t i = 0; chosen.size() < options.clusters; ++i) {  // no other point differs
    if (!seen.contains(i)) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace

std::vector<std::size_t> detail::first_centres(std::span<const float> points,
                                               const k_means_options& options) {
  if (options.start == k_means_start::plus_plus) return choose_by_distance(points, options);
  if (options.start == k_means_start::random) {
    return choose(options.clusters, points.size() / options.dimensions, options.seed);
  }
  std::vector<std::size_t> chosen(options.clusters);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  return chosen;
}

}  // namespace creek::mapreduce
#endif
