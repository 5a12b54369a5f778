// SPDX-License-Identifier: Apache-2.0
// The centres of a k-means round, in groups for vector code, and the scores by which they are
// compared.
// Included once for each instruction set.
#if defined(CREEK_CENTRE_GROUPS_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef CREEK_CENTRE_GROUPS_TARGET
#undef CREEK_CENTRE_GROUPS_TARGET
#else
#define CREEK_CENTRE_GROUPS_TARGET
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <creek/mapreduce/detail/line_allocator.hpp>

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using float_tag = hn::ScalableTag<float>;
using index_tag = hn::RebindToSigned<float_tag>;
using float_vector = hn::Vec<float_tag>;
using index_vector = hn::Vec<index_tag>;

constexpr std::size_t lanes = hn::MaxLanes(float_tag());
constexpr float rounding = 0x1p-24f;  // of one operation
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float smallest = std::numeric_limits<float>::min();

using aligned_floats = std::vector<float, mapreduce::detail::line_allocator<float>>;

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

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
