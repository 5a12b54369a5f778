// SPDX-License-Identifier: Apache-2.0
// The work of a k-means round. Points are processed a block at a time, transposed to columns, so
// that a vector holds one coordinate of many points; every centre is compared with the whole block.
// Points of many dimensions stay in rows, and vectors hold coordinates of one point.
#include <creek/mapreduce/jobs/k_means.hpp>

#include <algorithm>
#include <limits>

#include <creek/core/charge.hpp>

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

constexpr std::size_t block_vectors = 4;  // their independent additions hide latency
constexpr std::size_t block_points = block_vectors * hn::MaxLanes(float_tag());
constexpr std::size_t max_columns = 64;  // dimensions; with more, points stay in rows

/// Points by columns, and their nearest centres so far.
struct point_block {
  HWY_ALIGN float columns[max_columns * block_points];
  HWY_ALIGN std::int32_t nearest[block_points];
  HWY_ALIGN float distance[block_points];
};

/// Centres and the sums to which points are added. `Fixed` dimensions; 0: known only at run time.
template <std::size_t Fixed>
struct centre_sums {
  const float* centres;
  std::size_t count;
  std::size_t dimensions_given;
  double* sums;

  HWY_INLINE std::size_t dimensions() const { return Fixed != 0 ? Fixed : dimensions_given; }
  HWY_INLINE const float* centre(std::size_t c) const { return centres + c * dimensions(); }

  HWY_INLINE void add(const float* point, std::size_t c, double distance) const {
    double* row = sums + c * (dimensions() + 1);
    for (std::size_t j = 0; j < dimensions(); ++j) row[j] += static_cast<double>(point[j]);
    row[dimensions()] += 1;
    sums[count * (dimensions() + 1)] += distance;
  }
};

/// Nearest centres so far for a vector of points.
struct nearest_so_far {
  float_vector distance;
  index_vector centre;

  HWY_INLINE void see(float_vector other, index_vector c) {
    const auto nearer = hn::Lt(other, distance);
    distance = hn::Min(other, distance);
    centre = hn::IfThenElse(hn::RebindMask(index_tag(), nearer), c, centre);
  }
};

HWY_INLINE float_vector add_square(float_vector sum, const float* column, float_vector c) {
  const auto away = hn::Sub(hn::Load(float_tag(), column), c);
  return hn::MulAdd(away, away, sum);
}

template <std::size_t Fixed>
HWY_INLINE void find_nearest(point_block& block, const centre_sums<Fixed>& to) {
  const float_tag d;
  const index_tag di;
  const std::size_t n = hn::Lanes(d);
  const auto far = hn::Set(d, std::numeric_limits<float>::infinity());
  nearest_so_far best0{far, hn::Zero(di)}, best1 = best0, best2 = best0, best3 = best0;
  for (std::size_t c = 0; c < to.count; ++c) {
    const float* centre = to.centre(c);
    auto sum0 = hn::Zero(d), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    for (std::size_t j = 0; j < to.dimensions(); ++j) {
      const auto at = hn::Set(d, centre[j]);
      const float* column = block.columns + j * block_points;
      sum0 = add_square(sum0, column, at);
      sum1 = add_square(sum1, column + n, at);
      sum2 = add_square(sum2, column + 2 * n, at);
      sum3 = add_square(sum3, column + 3 * n, at);
    }
    const auto index = hn::Set(di, static_cast<std::int32_t>(c));
    best0.see(sum0, index);
    best1.see(sum1, index);
    best2.see(sum2, index);
    best3.see(sum3, index);
  }
  std::size_t at = 0;
  for (const nearest_so_far* best : {&best0, &best1, &best2, &best3}) {
    hn::Store(best->distance, d, block.distance + at);
    hn::Store(best->centre, di, block.nearest + at);
    at += n;
  }
}

template <std::size_t Fixed>
HWY_INLINE void add_by_columns(const float* points, std::size_t n, const centre_sums<Fixed>& to) {
  point_block block;
  const std::size_t whole = block_vectors * hn::Lanes(float_tag());
  for (std::size_t j = 0; j < to.dimensions(); ++j) {  // fills up a last, partial block
    std::fill_n(block.columns + j * block_points, whole, 0.0f);
  }
  for (std::size_t first = 0; first < n; first += whole) {
    const std::size_t here = std::min(whole, n - first);
    const float* point = points + first * to.dimensions();
    for (std::size_t i = 0; i < here; ++i) {
      for (std::size_t j = 0; j < to.dimensions(); ++j) {
        block.columns[j * block_points + i] = point[i * to.dimensions() + j];
      }
    }
    find_nearest(block, to);
    for (std::size_t i = 0; i < here; ++i) {
      to.add(point + i * to.dimensions(), static_cast<std::size_t>(block.nearest[i]),
             static_cast<double>(block.distance[i]));
    }
  }
}

HWY_INLINE float row_distance(const float* a, const float* b, std::size_t dimensions) {
  const float_tag d;
  const std::size_t n = hn::Lanes(d);
  auto even = hn::Zero(d), odd = hn::Zero(d);
  std::size_t j = 0;
  for (; j + 2 * n <= dimensions; j += 2 * n) {
    const auto first = hn::Sub(hn::LoadU(d, a + j), hn::LoadU(d, b + j));
    const auto second = hn::Sub(hn::LoadU(d, a + j + n), hn::LoadU(d, b + j + n));
    even = hn::MulAdd(first, first, even);
    odd = hn::MulAdd(second, second, odd);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; j < dimensions; ++j) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

HWY_INLINE void add_by_rows(const float* points, std::size_t n, const centre_sums<0>& to) {
  for (std::size_t i = 0; i < n; ++i) {
    const float* point = points + i * to.dimensions();
    std::size_t nearest = 0;
    float distance = std::numeric_limits<float>::infinity();
    for (std::size_t c = 0; c < to.count; ++c) {
      const float other = row_distance(point, to.centre(c), to.dimensions());
      if (other < distance) {
        distance = other;
        nearest = c;
      }
    }
    to.add(point, nearest, static_cast<double>(distance));
  }
}

void add_points(const float* points, std::size_t n, const float* centres, std::size_t count,
                std::size_t dimensions, double* sums) {
  switch (dimensions) {
    case 1:
      return add_by_columns<1>(points, n, {centres, count, 1, sums});
    case 2:
      return add_by_columns<2>(points, n, {centres, count, 2, sums});
    case 3:
      return add_by_columns<3>(points, n, {centres, count, 3, sums});
    case 4:
      return add_by_columns<4>(points, n, {centres, count, 4, sums});
    default:
      if (dimensions <= max_columns) {
        return add_by_columns<0>(points, n, {centres, count, dimensions, sums});
      }
      return add_by_rows(points, n, {centres, count, dimensions, sums});
  }
}

}  // namespace creek::mapreduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace creek::mapreduce {

HWY_EXPORT(add_points);

void add_to_nearest(std::span<const float> points, std::span<const float> centres,
                    std::size_t dimensions, std::span<double> sums) noexcept {
  charge(work::flop, static_cast<std::int64_t>(3 * points.size() * centres.size() / dimensions));
  HWY_DYNAMIC_DISPATCH(add_points)
  (points.data(), points.size() / dimensions, centres.data(), centres.size() / dimensions,
   dimensions, sums.data());
}

}  // namespace creek::mapreduce
#endif
