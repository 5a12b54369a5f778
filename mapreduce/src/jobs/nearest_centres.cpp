// SPDX-License-Identifier: Apache-2.0
// The work of a k-means round. Points are processed a block at a time, transposed to columns, so
// that a vector holds one coordinate of many points; every centre is compared with the whole block.
//
// Centres are compared by scores, |c|^2 / 2 - x.c, which cost one multiply-add per coordinate. A
// scan keeps only the least score of each group of centres, as many as a vector has lanes. One
// vector per point, whose lanes are the centres of the best group, then finds which it was. Of few
// centres the scan keeps the nearest one itself. Both steps also show whether
// another centre came so near that rounding may have decided; such centres are compared in double.
// So the choice is that of double precision, and does not depend on the instruction set. Points are
// taken relative to an origin near them, so that coordinates are not large compared with distances.
// If many points of a block remain undecided, because the points are in several distant places, the
// rest of the split is scored by squared differences.
#include <creek/mapreduce/jobs/k_means.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <creek/core/charge.hpp>
#include <creek/mapreduce/detail/line_allocator.hpp>

#include "jobs/nearest_centres.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jobs/nearest_centres.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using float_tag = hn::ScalableTag<float>;
using index_tag = hn::RebindToSigned<float_tag>;
using float_vector = hn::Vec<float_tag>;
using index_vector = hn::Vec<index_tag>;

constexpr std::size_t lanes = hn::MaxLanes(float_tag());
constexpr std::size_t max_vectors =
    4;  // per column of a block: their independent sums hide latency
constexpr std::size_t max_points = max_vectors * lanes;
constexpr std::size_t max_few = 32;      // centres that are compared one by one
constexpr std::size_t max_columns = 64;  // with `max_vectors` vectors, to fit the L1 cache
constexpr float rounding = 0x1p-24f;     // of one operation
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float smallest = std::numeric_limits<float>::min();

using aligned_floats = std::vector<float, mapreduce::detail::line_allocator<float>>;

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

/// Scores |c|^2 / 2 - x.c. For d dimensions, the error of a score is below K (|x||c| + |c|^2) with
/// K = (2 d + 4) 2^-24: the roundings of products and sums, and those of x, c and |c|^2. For
/// |c| <= 4 |x| that is below 20 K |x|^2; otherwise the score is above |c|^2 / 4 and its error
/// below 6 K of itself. The margin covers the errors of two scores.
struct dot_score {
  static constexpr bool relative = true;  // to an origin near the points
  static HWY_INLINE float_vector step(float_vector sum, float_vector x, float_vector minus_c) {
    return hn::MulAdd(x, minus_c, sum);
  }
  /// Infinite if squares come near the overflow.
  static HWY_INLINE float_vector margin(float_vector square, float_vector score, float k) {
    const float_tag d;
    const auto size = hn::Mul(hn::Add(square, hn::Abs(score)), hn::Set(d, 0x1p10f));
    return hn::MulAdd(size, hn::Set(d, k * 0x1p-5f), hn::Set(d, smallest));
  }
  /// Returns a lower bound for the distance of points to centres with at least this score.
  static HWY_INLINE float_vector distance(float_vector square, float_vector score, float k) {
    const float_tag d;
    const auto two = hn::Set(d, 2.0f);
    const auto least = hn::Sub(score, margin(square, score, k));
    return hn::Sqrt(hn::Max(hn::MulAdd(two, least, square), hn::Zero(d)));
  }
};

/// Scores |x - c|^2, whose relative error is below K.
struct square_score {
  static constexpr bool relative = false;
  static HWY_INLINE float_vector step(float_vector sum, float_vector x, float_vector minus_c) {
    const auto away = hn::Add(x, minus_c);
    return hn::MulAdd(away, away, sum);
  }
  static HWY_INLINE float_vector margin(float_vector, float_vector score, float k) {
    const float_tag d;
    return hn::MulAdd(score, hn::Set(d, 4 * k), hn::Set(d, smallest));
  }
  static HWY_INLINE float_vector distance(float_vector square, float_vector score, float k) {
    const float_tag d;
    return hn::Sqrt(hn::Max(hn::Sub(score, margin(square, score, k)), hn::Zero(d)));
  }
};

/// Centres in groups: per group a row with the starts of the scores, then a row per coordinate
/// with the centres' negative coordinates relative to the origin. Lanes without a centre have
/// infinite scores.
class centre_groups {
 public:
  centre_groups(const float* centres, std::size_t count, std::size_t dimensions)
      : centres_(centres),
        count_(count),
        dimensions_(dimensions),
        groups_((count + lanes - 1) / lanes),
        values_(groups_ * (dimensions + 1) * lanes),
        origin_(dimensions) {}

  template <class Score>
  void prepare(const float* points, std::size_t n) {
    std::fill(origin_.begin(), origin_.end(), 0.0f);
    if (Score::relative) move_origin(points, std::min<std::size_t>(n, 64));
    error_ = static_cast<float>(2 * dimensions_ + 4) * rounding;
    for (std::size_t c = 0; c < groups_ * lanes; ++c) {
      float* to = values_.data() + c / lanes * (dimensions_ + 1) * lanes + c % lanes;
      if (c >= count_) {
        for (std::size_t j = 0; j <= dimensions_; ++j) to[j * lanes] = j == 0 ? infinity : 0;
        continue;
      }
      double square = 0;
      for (std::size_t j = 0; j < dimensions_; ++j) {
        const float at = origin_[j] - centres_[c * dimensions_ + j];
        to[(j + 1) * lanes] = at;
        square += static_cast<double>(at) * static_cast<double>(at);
      }
      if (!(square < 1e36)) error_ = infinity;  // nothing is decided without double
      to[0] = Score::relative ? static_cast<float>(square / 2) : 0;
    }
  }

  [[nodiscard]] HWY_INLINE const float* group(std::size_t g) const {
    return values_.data() + g * (dimensions_ + 1) * lanes;
  }
  [[nodiscard]] const float* centre(std::size_t c) const { return centres_ + c * dimensions_; }
  [[nodiscard]] const float* centres() const { return centres_; }
  [[nodiscard]] std::size_t groups() const { return groups_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  [[nodiscard]] std::size_t in_group(std::size_t g) const {
    return std::min(lanes, count_ - g * lanes);
  }
  [[nodiscard]] const float* origin() const { return origin_.data(); }
  [[nodiscard]] float error() const { return error_; }

 private:
  void move_origin(const float* points, std::size_t n) {
    for (std::size_t j = 0; j < dimensions_; ++j) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(points[i * dimensions_ + j]);
      origin_[j] = static_cast<float>(sum / static_cast<double>(n));
    }
  }

  const float* centres_;
  std::size_t count_;
  std::size_t dimensions_;
  std::size_t groups_;
  aligned_floats values_;
  std::vector<float> origin_;
  float error_ = 0;
};

/// Adds the points of a split, which ends at `end`, to the sums of their centres, in order. `Fixed`
/// dimensions; 0: known only at run time.
template <std::size_t Fixed>
class centre_sums {
 public:
  centre_sums(const centre_groups& centres, const float* end, double* sums)
      : centres_(centres.centres()),
        end_(end),
        sums_(sums),
        total_(sums + centres.count() * (centres.dimensions() + 1)),
        d_(centres.dimensions()) {
    if (!quads) return;
    for (std::size_t i = 0; i < centres.count() * 4; ++i) {
      quads_.push_back(i % 4 == 3 ? 1.0 : static_cast<double>(centres_[i / 4 * 3 + i % 4]));
    }
  }

  /// Adds `n` points, an even number except at the end of the split.
  void add(const float* points, const std::int32_t* nearest, std::size_t n) {
    std::size_t i = 0;
    if constexpr (quads) {
      const std::size_t whole = points + n * 3 < end_ ? n : n - 1;  // reads a float more
      const double* const centres = quads_.data();
      double_vector even = even_, odd = odd_;
      for (; i + 2 <= whole; i += 2) {
        even = add_quad(points + i * 3, nearest[i], centres, even);
        odd = add_quad(points + i * 3 + 3, nearest[i + 1], centres, odd);
      }
      even_ = even;
      odd_ = odd;
    }
    for (; i < n; ++i) add_point(points + i * dimensions(), nearest[i]);
  }
  void finish() {
    const double_tag d;
    *total_ += hn::GetLane(hn::SumOfLanes(d, hn::Add(even_, odd_))) + rest_;
  }

 private:
  /// Points of three dimensions: a row of sums is one vector.
  static constexpr bool quads = Fixed == 3 && hn::MaxLanes(hn::CappedTag<double, 4>()) == 4;
  using double_tag = hn::CappedTag<double, quads ? 4 : 8>;
  using half_tag = hn::Rebind<float, double_tag>;
  using double_vector = hn::Vec<double_tag>;

  HWY_INLINE std::size_t dimensions() const { return Fixed != 0 ? Fixed : d_; }

  HWY_INLINE double_vector add_quad(const float* point, std::int32_t c, const double* centres,
                                    double_vector squares) const {
    const double_tag d;
    double* const row = sums_ + 4 * static_cast<std::size_t>(c);
    const auto read = hn::PromoteTo(d, hn::LoadU(half_tag(), point));
    const auto x = hn::IfThenElse(hn::FirstN(d, 3), read, hn::Set(d, 1.0));
    const auto away = hn::Sub(x, hn::LoadU(d, centres + 4 * static_cast<std::size_t>(c)));
    hn::StoreU(hn::Add(hn::LoadU(d, row), x), d, row);
    return hn::MulAdd(away, away, squares);
  }
  HWY_INLINE double_vector add_some(const float* point, const float* centre, double* row,
                                    double_vector squares) const {
    const double_tag d;
    const auto x = hn::PromoteTo(d, hn::LoadU(half_tag(), point));
    const auto away = hn::Sub(x, hn::PromoteTo(d, hn::LoadU(half_tag(), centre)));
    hn::StoreU(hn::Add(hn::LoadU(d, row), x), d, row);
    return hn::MulAdd(away, away, squares);
  }
  HWY_INLINE void add_point(const float* point, std::int32_t nearest) {
    const std::size_t d = dimensions(), c = static_cast<std::size_t>(nearest);
    constexpr std::size_t step = hn::MaxLanes(double_tag());
    double* const row = sums_ + c * (d + 1);
    const float* const centre = centres_ + c * d;
    std::size_t j = 0;
    for (; j + 2 * step <= d; j += 2 * step) {
      even_ = add_some(point + j, centre + j, row + j, even_);
      odd_ = add_some(point + j + step, centre + j + step, row + j + step, odd_);
    }
    for (; j + step <= d; j += step) {
      even_ = add_some(point + j, centre + j, row + j, even_);
    }
    for (; j < d; ++j) {
      const auto x = static_cast<double>(point[j]);
      const double away = x - static_cast<double>(centre[j]);
      row[j] += x;
      rest_ += away * away;
    }
    row[d] += 1;
  }

  const float* centres_;
  const float* end_;
  double* sums_;
  double* total_;
  std::size_t d_;
  std::vector<double> quads_;
  double_vector even_ = hn::Zero(double_tag()), odd_ = hn::Zero(double_tag());
  double rest_ = 0;
};

/// Finds nearest centres of blocks of points. `Vectors` per column.
template <std::size_t Fixed, std::size_t Vectors>
class nearest_scan {
 public:
  static constexpr std::size_t width = Vectors * lanes;
  /// Centres whose sums fit the registers; few dimensions of the points are there as well.
  static constexpr std::size_t tile = lanes >= 16 && Fixed == 0 ? 4 : 2;

  explicit nearest_scan(centre_groups& centres) : centres_(&centres) {}

  /// Finds the nearest centres of the `n` points of a block; with `Bounds` also block.lower.
  template <bool Bounds>
  void find(point_block& block, std::size_t n) {
    if (!by_squares_) {
      if (try_find<dot_score, Bounds>(block, n)) return;
      by_squares_ = true;
      centres_->prepare<square_score>(nullptr, 0);
    }
    (void)try_find<square_score, Bounds>(block, n);
  }

 private:
  HWY_INLINE std::size_t dimensions() const { return Fixed != 0 ? Fixed : centres_->dimensions(); }
  /// Returns whether each centre is a group of its own: no group has to be searched then.
  HWY_INLINE bool few() const { return centres_->count() <= max_few; }

  template <class Score, bool Bounds>
  bool try_find(point_block& block, std::size_t n) {
    load(block, n);
    scan<Score>(block);
    if (Score::relative) {
      std::size_t undecided = 0;
      for (std::size_t i = 0; i < n; ++i) undecided += block.accepted[i] < infinity ? 0 : 1;
      if (undecided > n / 4) return false;
    }
    const float* const groups = centres_->group(0);
    for (std::size_t i = 0; i < n; ++i) choose<Score, Bounds>(block, i, groups);
    if (Bounds) {
      const float_tag d;
      for (std::size_t i = 0; i < width; i += lanes) {
        const auto bound = Score::distance(hn::Load(d, block.square + i),
                                           hn::Load(d, block.lower + i), centres_->error());
        hn::Store(hn::Mul(bound, hn::Set(d, 1 - 4 * rounding)), d, block.lower + i);
      }
    }
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
  bool by_squares_ = false;
};

template <std::size_t Fixed, std::size_t Vectors>
void add_by_columns(const float* points, std::size_t n, centre_groups& centres, double* sums) {
  const std::size_t d = centres.dimensions();
  point_block block;
  block.columns.resize(centres.dimensions() * Vectors * lanes);
  block.picked = nullptr;
  nearest_scan<Fixed, Vectors> scan(centres);
  centre_sums<Fixed> to(centres, points + n * d, sums);
  for (std::size_t first = 0; first < n; first += scan.width) {
    const std::size_t here = std::min(scan.width, n - first);
    const float* const point = points + first * d;
    block.points = point;
    scan.template find<false>(block, here);
    to.add(point, block.nearest, here);
  }
  to.finish();
}

/// Lists the points whose bounds do not show that their centre is still the nearest, and
/// lowers the bounds by the moves of the centres. Returns their number.
template <std::size_t Fixed>
std::size_t list_undecided(const float* points, std::size_t n, const centre_groups& centres,
                           const detail::centre_bounds& bounds, const detail::centre_moves& moves,
                           std::uint32_t* list) {
  const float_tag df;
  const index_tag di;
  const std::size_t d = Fixed != 0 ? Fixed : centres.dimensions();
  const auto stride = hn::Set(di, static_cast<std::int32_t>(d));
  const auto row_starts = hn::Mul(hn::Iota(di, 0), stride);
  const auto furthest = hn::Set(di, static_cast<std::int32_t>(moves.furthest));
  const auto longest = hn::Set(df, moves.longest), others = hn::Set(df, moves.others);
  const float error = static_cast<float>(2 * d + 4) * rounding;
  std::size_t listed = 0, i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto nearest = hn::LoadU(di, bounds.nearest + i);
    const auto centre_starts = hn::Mul(nearest, stride);
    auto square = hn::Set(df, smallest);  // more than what underflows
    for (std::size_t j = 0; j < d; ++j) {
      const auto x = hn::GatherIndex(df, points + i * d + j, row_starts);
      const auto away = hn::Sub(x, hn::GatherIndex(df, centres.centres() + j, centre_starts));
      square = hn::MulAdd(away, away, square);
    }
    const auto own = hn::Mul(hn::Sqrt(square), hn::Set(df, 1 + error));
    const auto moved_most = hn::RebindMask(df, hn::Eq(nearest, furthest));
    const auto left =
        hn::Sub(hn::LoadU(df, bounds.lower + i), hn::IfThenElse(moved_most, others, longest));
    const auto lower = hn::Mul(hn::Max(left, hn::Zero(df)), hn::Set(df, 1 - 4 * rounding));
    hn::StoreU(lower, df, bounds.lower + i);
    const auto gap = hn::GatherIndex(df, moves.half_gap.data(), nearest);
    const auto kept = hn::RebindMask(di, hn::Lt(own, hn::Max(lower, gap)));
    const auto index = hn::Iota(di, static_cast<std::int32_t>(i));
    listed +=
        hn::CompressStore(index, hn::Not(kept), di, reinterpret_cast<std::int32_t*>(list) + listed);
  }
  for (; i < n; ++i) list[listed++] = static_cast<std::uint32_t>(i);
  return listed;
}

/// Finds the nearest centres and bounds of listed points, or of the first `n` for a null `list`.
template <std::size_t Fixed, std::size_t Vectors>
void find_bounds(const float* points, const std::uint32_t* list, std::size_t n,
                 centre_groups& centres, const detail::centre_bounds& bounds) {
  using scanner = nearest_scan<Fixed, Vectors>;
  point_block block;
  block.columns.resize(centres.dimensions() * Vectors * lanes);
  scanner scan(centres);
  for (std::size_t first = 0; first < n; first += scanner::width) {
    const std::size_t here = std::min(scanner::width, n - first);
    block.points = list == nullptr ? points + first * centres.dimensions() : points;
    block.picked = list == nullptr ? nullptr : list + first;
    scan.template find<true>(block, here);
    for (std::size_t i = 0; i < here; ++i) {
      const std::size_t at = list == nullptr ? first + i : list[first + i];
      bounds.nearest[at] = block.nearest[i];
      bounds.lower[at] = block.lower[i];
    }
  }
}

template <std::size_t Fixed, std::size_t Vectors>
std::size_t process(const detail::split_of_points& split) {
  centre_groups groups(split.centres.data(), split.centres.size() / split.dimensions,
                       split.dimensions);
  groups.template prepare<dot_score>(split.points, split.n);
  if (split.bounds == nullptr) {
    add_by_columns<Fixed, Vectors>(split.points, split.n, groups, split.sums);
    return split.n;
  }
  std::size_t compared = split.n;
  if (split.moves == nullptr) {
    find_bounds<Fixed, Vectors>(split.points, nullptr, split.n, groups, *split.bounds);
  } else {
    std::vector<std::uint32_t> list(split.n + 2 * lanes);
    compared = list_undecided<Fixed>(split.points, split.n, groups, *split.bounds, *split.moves,
                                     list.data());
    find_bounds<Fixed, Vectors>(split.points, list.data(), compared, groups, *split.bounds);
  }
  if (split.sums != nullptr) {
    centre_sums<Fixed> to(groups, split.points + split.n * split.dimensions, split.sums);
    to.add(split.points, split.bounds->nearest, split.n);
    to.finish();
  }
  return compared;
}

/// Returns the number of points that were compared with all centres.
std::size_t process_split(const detail::split_of_points& split) {
  if (split.n == 0) return 0;
  switch (split.dimensions) {
    case 1:
      return process<1, 4>(split);
    case 2:
      return process<2, 4>(split);
    case 3:
      return process<3, 4>(split);
    case 4:
      return process<4, 4>(split);
    default:
      if (split.dimensions <= max_columns) return process<0, 4>(split);
      return process<0, 2>(split);
  }
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce {

HWY_EXPORT(process_split);

namespace {
/// A coordinate of a point costs a multiplication and an addition per centre.
void charge_comparisons(std::size_t compared, std::size_t coordinates_of_centres) {
  charge(work::flop, static_cast<std::int64_t>(2 * compared * coordinates_of_centres));
}
}  // namespace

void add_to_nearest(std::span<const float> points, std::span<const float> centres,
                    std::size_t dimensions, std::span<double> sums) {
  const std::size_t n = points.size() / dimensions;
  charge_comparisons(n, centres.size());
  HWY_DYNAMIC_DISPATCH(process_split)
  ({.points = points.data(),
    .n = n,
    .centres = centres,
    .dimensions = dimensions,
    .sums = sums.data()});
}

void detail::find_nearest(std::span<const float> points, std::span<const float> centres,
                          std::size_t dimensions, const centre_bounds& bounds,
                          const centre_moves* moves, std::span<double> sums) {
  const std::size_t compared = HWY_DYNAMIC_DISPATCH(process_split)({.points = points.data(),
                                                                    .n = points.size() / dimensions,
                                                                    .centres = centres,
                                                                    .dimensions = dimensions,
                                                                    .sums = sums.data(),
                                                                    .bounds = &bounds,
                                                                    .moves = moves});
  charge_comparisons(compared, centres.size());
}

double detail::exact_distance(const float* a, const float* b, std::size_t dimensions) noexcept {
  double sum = 0;
  for (std::size_t j = 0; j < dimensions; ++j) {
    const double away = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    sum += away * away;
  }
  return sum;
}

}  // namespace creek::mapreduce
#endif
