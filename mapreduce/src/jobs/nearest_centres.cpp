// SPDX-License-Identifier: Apache-2.0
// The work of a k-means round on a split of the points: their nearest centres, by scans of blocks
// (nearest_scan-inl.hpp) or by bounds, and their sums.
#include <creek/mapreduce/jobs/k_means.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

#include <creek/core/charge.hpp>

#include "jobs/nearest_centres.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "jobs/nearest_centres.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "jobs/centre_groups-inl.hpp"
#include "jobs/centre_sums-inl.hpp"
#include "jobs/nearest_scan-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace creek::mapreduce::HWY_NAMESPACE {

constexpr std::size_t max_columns = 64;  // with `max_vectors` vectors, to fit the L1 cache

template <std::size_t Fixed, std::size_t Vectors>
void add_by_columns(const float* points, std::size_t n, centre_groups& centres, double* sums) {
  const std::size_t d = centres.dimensions();
  point_block block;
  block.columns.resize(centres.dimensions() * Vectors * lanes);
  block.picked = nullptr;
  nearest_scan<Fixed, Vectors> scan(centres, false);
  centre_sums<Fixed> to(centres, points + n * d, sums);
  for (std::size_t first = 0; first < n; first += scan.width) {
    const std::size_t here = std::min(scan.width, n - first);
    const float* const point = points + first * d;
    block.points = point;
    scan.find(block, here);
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
  scanner scan(centres, true);
  for (std::size_t first = 0; first < n; first += scanner::width) {
    const std::size_t here = std::min(scanner::width, n - first);
    block.points = list == nullptr ? points + first * centres.dimensions() : points;
    block.picked = list == nullptr ? nullptr : list + first;
    scan.find(block, here);
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
