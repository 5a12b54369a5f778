// SPDX-License-Identifier: Apache-2.0
// Computes the line of best fit from its sums.
#include <creek/mapreduce/jobs/line_fit.hpp>

#include <limits>

namespace creek::mapreduce {

namespace {

/// For any sufficiently wide arithmetic. A spread of x below `resolved` times its size counts as 0.
template <class Wide>
fitted_line line_of(Wide n, Wide x, Wide y, Wide xx, Wide yy, Wide xy, Wide resolved) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Wide x_spread = n * xx - x * x, y_spread = n * yy - y * y, common = n * xy - x * y;
  if (!(x_spread > resolved * (n * xx))) return {none, none, none};
  fitted_line line{};
  line.slope = static_cast<double>(common) / static_cast<double>(x_spread);
  line.intercept =
      (static_cast<double>(y) - line.slope * static_cast<double>(x)) / static_cast<double>(n);
  line.r_squared = y_spread > resolved * (n * yy)
                       ? line.slope * (static_cast<double>(common) / static_cast<double>(y_spread))
                       : none;
  return line;
}

}  // namespace

fitted_line fit_line(std::uint64_t count, std::span<const std::uint64_t, 5> sums) {
  __extension__ using wide = __int128;  // 2^48 points have sums below 2^64, products below 2^127
  return line_of<wide>(static_cast<wide>(count), static_cast<wide>(sums[0]),
                       static_cast<wide>(sums[1]), static_cast<wide>(sums[2]),
                       static_cast<wide>(sums[3]), static_cast<wide>(sums[4]), 0);
}

fitted_line fit_line(std::uint64_t count, std::span<const double, 5> sums) {
  constexpr long double resolved = 1e-12L;  // smaller differences are rounding errors
  return line_of<long double>(static_cast<long double>(count), sums[0], sums[1], sums[2], sums[3],
                              sums[4], resolved);
}

}  // namespace creek::mapreduce
