// SPDX-License-Identifier: Apache-2.0
// Finds the nearest centres of a block of points, which are transposed to columns, so that a vector
// holds one coordinate of many points; every centre is compared with the whole block.
//
// Centres are compared by scores, |c|^2 / 2 - x.c, which cost one multiply-add per coordinate. A
// scan keeps only the least score of each group of centres, as many as a vector has lanes. One
// vector per point, whose lanes are the centres of the best group, then finds which it was. Of few
// centres the scan keeps the nearest one itself. Both steps also show whether another centre came
// so near that rounding may have decided; such centres are compared in double. So the choice is
// that of double precision, and does not depend on the instruction set. Points are taken relative
// to an origin near them, so that coordinates are not large compared with distances. If many points
// of a block remain undecided, because the points are in several distant places, the rest of the
// split is scored by squared differences, for any number of dimensions by one function. Included
// once for each instruction set.
#if defined(CREEK_NEAREST_SCAN_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef CREEK_NEAREST_SCAN_TARGET
#undef CREEK_NEAREST_SCAN_TARGET
#else
#define CREEK_NEAREST_SCAN_TARGET
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "jobs/centre_groups-inl.hpp"
#include "jobs/nearest_centres.hpp"

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {

constexpr std::size_t max_vectors = 4;  // per column: their independent sums hide latency
constexpr std::size_t max_points = max_vectors * lanes;
constexpr std::size_t max_few = 32;  // centres that are compared one by one

/// Points by columns, and what a scan finds.
struct point_block {
  aligned_floats columns;
  HWY_ALIGN float square[max_points];        // |x|^2
  HWY_ALIGN float best[max_points];          // least score
  HWY_ALIGN float limit[max_points];         // centres with scores up to this may be the nearest
  HWY_ALIGN float second[max_points];        // least score outside the best group
  HWY_ALIGN float accepted[max_points];      // the limit; infinite if other groups reach it
  HWY_ALIGN std::int32_t group[max_points];  // first centre of the best group, or few(): nearest
  HWY_ALIGN std::int32_t nearest[max_points];
  HWY_ALIGN float lower[max_points];  // bound for the distance to other centres
  const float* points;                // by rows
  const std::uint32_t* picked;        // which of them are in the block; null: the first ones

  HWY_INLINE const float* row(std::size_t i, std::size_t dimensions) const {
    return points + (picked == nullptr ? i : picked[i]) * dimensions;
  }
};

/// Stores a vector's lanes of points, by rows, to columns, less their origin.
template <std::size_t Fixed>
HWY_INLINE void load_columns(const float* rows, const float* origin, float* columns,
                             std::size_t width) {
  const float_tag d;
  float_vector x[4];
  if constexpr (Fixed == 1) {
    x[0] = hn::LoadU(d, rows);
  } else if constexpr (Fixed == 2) {
    hn::LoadInterleaved2(d, rows, x[0], x[1]);
  } else if constexpr (Fixed == 3) {
    hn::LoadInterleaved3(d, rows, x[0], x[1], x[2]);
  } else {
    hn::LoadInterleaved4(d, rows, x[0], x[1], x[2], x[3]);
  }
  for (std::size_t j = 0; j < Fixed; ++j) {
    hn::Store(hn::Sub(x[j], hn::Set(d, origin[j])), d, columns + j * width);
  }
}

/// Finds nearest centres of blocks of points; with `bounds` also block.lower. `Vectors` per column.
template <std::size_t Fixed, std::size_t Vectors>
class nearest_scan {
 public:
  static constexpr std::size_t width = Vectors * lanes;
  /// Centres whose sums fit the registers; few dimensions of the points are there as well.
  static constexpr std::size_t tile = lanes >= 16 && Fixed == 0 ? 4 : 2;

  nearest_scan(centre_groups& centres, bool bounds) : centres_(&centres), bounds_(bounds) {}

  /// Finds the nearest centres of the `n` points of a block.
  void find(point_block& block, std::size_t n) {
    if (!by_squares_) {
      if (try_find<dot_score>(block, n)) return;
      by_squares_ = true;
      centres_->prepare<square_score>(nullptr, 0);
    }
    (void)nearest_scan<0, Vectors>(*centres_, bounds_).template try_find<square_score>(block, n);
  }

 private:
  template <std::size_t, std::size_t>
  friend class nearest_scan;

  HWY_INLINE std::size_t dimensions() const { return Fixed != 0 ? Fixed : centres_->dimensions(); }
  /// Returns whether each centre is a group of its own: no group has to be searched then.
  HWY_INLINE bool few() const { return centres_->count() <= max_few; }

  template <class Score>
  bool try_find(point_block& block, std::size_t n) {
    load(block, n);
    scan<Score>(block);
    if (Score::relative) {
      std::size_t undecided = 0;
      for (std::size_t i = 0; i < n; ++i) undecided += block.accepted[i] < infinity ? 0 : 1;
      if (undecided > n / 4) return false;
    }
    bounds_ ? choose_with_bounds<Score>(block, n) : choose_all<Score, false>(block, n);
    return true;
  }

  void load(point_block& block, std::size_t n) const {
    const float_tag d;
    const float* const origin = centres_->origin();
    std::size_t done = 0;
    if constexpr (Fixed != 0) {
      for (; block.picked == nullptr && done + lanes <= n; done += lanes) {
        load_columns<Fixed>(block.points + done * Fixed, origin, block.columns.data() + done,
                            width);
      }
    }
    for (std::size_t i = done; i < n; ++i) {
      const float* const row = block.row(i, dimensions());
      for (std::size_t j = 0; j < dimensions(); ++j) {
        block.columns[j * width + i] = row[j] - origin[j];
      }
    }
    for (std::size_t j = 0; n < width && j < dimensions(); ++j) {
      std::fill(block.columns.data() + j * width + n, block.columns.data() + (j + 1) * width, 0.0f);
    }
    for (std::size_t i = 0; i < width; i += lanes) {
      auto square = hn::Zero(d);
      for (std::size_t j = 0; j < dimensions(); ++j) {
        const auto x = hn::Load(d, block.columns.data() + j * width + i);
        square = hn::MulAdd(x, x, square);
      }
      hn::Store(square, d, block.square + i);
    }
  }

  /// Calls `take(sums, t)` with the scores of each of `Tile` centres, the first of which is in lane
  /// 0 of `group`.
  template <class Score, std::size_t Tile, class Take>
  HWY_INLINE void score(const point_block& block, const float* group, const Take& take) const {
    const float_tag d;
    float_vector sums[Tile][Vectors];
    for (std::size_t t = 0; t < Tile; ++t) {
      for (std::size_t v = 0; v < Vectors; ++v) sums[t][v] = hn::Set(d, group[t]);
    }
    for (std::size_t j = 0; j < dimensions(); ++j) {
      const float* const at = group + (j + 1) * lanes;
      const float* const column = block.columns.data() + j * width;
      for (std::size_t t = 0; t < Tile; ++t) {
        const auto c = hn::Set(d, at[t]);
        for (std::size_t v = 0; v < Vectors; ++v) {
          sums[t][v] = Score::step(sums[t][v], hn::Load(d, column + v * lanes), c);
        }
      }
    }
    for (std::size_t t = 0; t < Tile; ++t) take(sums[t], t);
  }
  template <class Score, class Take>
  HWY_INLINE void score_group(const point_block& block, std::size_t g, const Take& take) const {
    const float* const at = centres_->group(g);
    const std::size_t count = centres_->in_group(g);
    std::size_t first = 0;
    const auto take_next = [&](const auto& sums, std::size_t t) { take(sums, first + t); };
    for (; first + tile <= count; first += tile) score<Score, tile>(block, at + first, take_next);
    for (; first < count; ++first) score<Score, 1>(block, at + first, take_next);
  }

  template <class Score>
  void scan(point_block& block) const {
    const float_tag d;
    const index_tag di;
    float_vector best[Vectors], second[Vectors];
    index_vector group[Vectors];
    for (std::size_t v = 0; v < Vectors; ++v) {
      best[v] = second[v] = hn::Set(d, infinity);
      group[v] = hn::Zero(di);
    }
    const auto compare = [&](const float_vector(&least)[Vectors], std::size_t first) HWY_ATTR {
      const auto index = hn::Set(di, static_cast<std::int32_t>(first));
      for (std::size_t v = 0; v < Vectors; ++v) {
        const auto better = hn::RebindMask(di, hn::Lt(least[v], best[v]));
        group[v] = hn::IfThenElse(better, index, group[v]);
        second[v] = hn::Min(second[v], hn::Max(best[v], least[v]));
        best[v] = hn::Min(best[v], least[v]);
      }
    };
    for (std::size_t g = 0; !few() && g < centres_->groups(); ++g) {
      float_vector least[Vectors];
      for (std::size_t v = 0; v < Vectors; ++v) least[v] = hn::Set(d, infinity);
      score_group<Score>(block, g, [&](const auto& sums, std::size_t) HWY_ATTR {
        for (std::size_t v = 0; v < Vectors; ++v) least[v] = hn::Min(sums[v], least[v]);
      });
      compare(least, g * lanes);
    }
    for (std::size_t g = 0; few() && g < centres_->groups(); ++g) {
      score_group<Score>(block, g, [&](const auto& sums, std::size_t t) HWY_ATTR {
        compare(sums, g * lanes + t);
      });
    }
    for (std::size_t v = 0; v < Vectors; ++v) {
      const auto square = hn::Load(d, block.square + v * lanes);
      const auto limit = hn::Add(best[v], Score::margin(square, best[v], centres_->error()));
      const auto alone = hn::Gt(second[v], limit);  // false for NaN
      hn::Store(best[v], d, block.best + v * lanes);
      hn::Store(second[v], d, block.second + v * lanes);
      hn::Store(limit, d, block.limit + v * lanes);
      hn::Store(hn::IfThenElse(alone, limit, hn::Set(d, infinity)), d, block.accepted + v * lanes);
      hn::Store(group[v], di, block.group + v * lanes);
    }
  }

  /// Returns the scores of point i and the centres of a group.
  template <class Score>
  HWY_INLINE float_vector scores(const point_block& block, std::size_t i, const float* at) const {
    const float_tag d;
    auto sum = hn::Load(d, at);
    for (std::size_t j = 0; j < dimensions(); ++j) {
      sum = Score::step(sum, hn::Set(d, block.columns[j * width + i]),
                        hn::Load(d, at + (j + 1) * lanes));
    }
    return sum;
  }

  template <class Score, bool Bounds>
  void choose_all(point_block& block, std::size_t n) const {
    const float* const groups = centres_->group(0);
    for (std::size_t i = 0; i < n; ++i) choose<Score, Bounds>(block, i, groups);
  }
  template <class Score>
  void choose_with_bounds(point_block& block, std::size_t n) const {
    const float_tag d;
    choose_all<Score, true>(block, n);
    for (std::size_t i = 0; i < width; i += lanes) {
      const auto bound = Score::distance(hn::Load(d, block.square + i),
                                         hn::Load(d, block.lower + i), centres_->error());
      hn::Store(hn::Mul(bound, hn::Set(d, 1 - 4 * rounding)), d, block.lower + i);
    }
  }
  template <class Score, bool Bounds>
  HWY_INLINE void choose(point_block& block, std::size_t i, const float* groups) const {
    if (few() && block.accepted[i] < infinity) {
      block.nearest[i] = block.group[i];
      if (Bounds) block.lower[i] = block.second[i];
      return;
    }
    const float_tag d;
    const std::int32_t first = few() ? 0 : block.group[i];
    const float* const group = groups + static_cast<std::size_t>(first) * (dimensions() + 1);
    const auto scored = scores<Score>(block, i, group);
    const float accepted = block.accepted[i];
    const auto near = hn::Le(scored, hn::Set(d, accepted));  // all lanes if that is infinite
    if (HWY_LIKELY(hn::CountTrue(d, near) == 1 && (lanes > 1 || accepted < infinity))) {
      block.nearest[i] = first + static_cast<std::int32_t>(hn::FindKnownFirstTrue(d, near));
      if (Bounds) {
        const auto others = hn::IfThenElse(near, hn::Set(d, infinity), scored);
        block.lower[i] = std::min(block.second[i], hn::GetLane(hn::MinOfLanes(d, others)));
      }
      return;
    }
    if (Bounds) block.lower[i] = block.best[i];
    block.nearest[i] = static_cast<std::int32_t>(decide<Score>(block, i));
  }

  /// Compares the centres within the limit in double.
  template <class Score>
  HWY_NOINLINE std::size_t decide(const point_block& block, std::size_t i) const {
    const float_tag d;
    std::size_t nearest = 0;
    double distance = std::numeric_limits<double>::infinity();
    for (std::size_t g = 0; g < centres_->groups(); ++g) {
      HWY_ALIGN float scored[lanes];
      hn::Store(scores<Score>(block, i, centres_->group(g)), d, scored);
      for (std::size_t t = 0; t < centres_->in_group(g); ++t) {
        if (scored[t] > block.limit[i]) continue;
        const std::size_t c = g * lanes + t;
        const double other =
            detail::exact_distance(block.row(i, dimensions()), centres_->centre(c), dimensions());
        if (other < distance) {
          distance = other;
          nearest = c;
        }
      }
    }
    return nearest;
  }

  centre_groups* centres_;
  bool bounds_;
  bool by_squares_ = false;
};

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
