// SPDX-License-Identifier: Apache-2.0
// Sums of the points that are nearest to each centre.
// Included once for each instruction set.
#if defined(CREEK_CENTRE_SUMS_TARGET) == defined(HWY_TARGET_TOGGLE)
#ifdef CREEK_CENTRE_SUMS_TARGET
#undef CREEK_CENTRE_SUMS_TARGET
#else
#define CREEK_CENTRE_SUMS_TARGET
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jobs/centre_groups-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {

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

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
