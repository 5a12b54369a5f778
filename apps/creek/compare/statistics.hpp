// SPDX-License-Identifier: Apache-2.0
// Difference between runs that were measured in pairs: its size, and how certain it is.
//
// The differences of the pairs are taken to be independent and symmetric about what is sought, and
// nothing else: no normal distribution, and a run that was disturbed moves the result by no more
// than its rank. The estimate is that of [Hodges 1963], the median of the means of all pairs
// of differences (Walsh averages), and the interval is the one that belongs to Wilcoxon's signed
// rank test, from the test's exact distribution.
//
// Sources: [Hodges 1963]; [Hollander 2014], sections 3.2 and 3.3.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace creek::tool::compare {

/// Statistics of one policy's runs.
struct summary {
  double median = 0, min = 0, max = 0;
  double spread = 0;  ///< half the distance between the quartiles, relative to the median
};
/// Summarizes values, of which there must be at least one.
summary summary_of(std::vector<double> values);

struct interval {
  double low = 0, high = 0;
  double confidence = 0;  ///< exact confidence, at least 0.95

  bool excludes_zero() const noexcept { return low > 0 || high < 0; }
};

/// Returns the median of the Walsh averages. `differences` must not be empty.
double typical_difference(std::span<const double> differences);

/// Returns the narrowest interval of the signed rank test with a confidence of at least 0.95, or
/// nullopt for fewer than least_pairs differences, whose widest interval has less.
std::optional<interval> difference_interval(std::span<const double> differences);
inline constexpr std::size_t least_pairs = 6;

/// Difference between a policy and the baseline, relative to the baseline: 0.01 is 1 % more.
struct difference {
  double estimate = 0;
  std::optional<interval> range;
};

/// Compares the figures of each round in pairs. Returns nullopt without pairs, or if a baseline is
/// not above zero, since there is no relative difference then.
std::optional<difference> relative_difference(std::span<const double> figures,
                                              std::span<const double> baseline);

}  // namespace creek::tool::compare
