// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <algorithm>
#include <cmath>

#include <support/median.hpp>

namespace creek::tool::compare {
namespace {

using ::bench::quantile;

std::vector<double> walsh_averages(std::span<const double> differences) {
  std::vector<double> averages;
  averages.reserve(differences.size() * (differences.size() + 1) / 2);
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (std::size_t j = i; j < differences.size(); ++j) {
      averages.push_back((differences[i] + differences[j]) / 2);
    }
  }
  std::ranges::sort(averages);
  return averages;
}

/// Returns P(W = w) for w = 0 .. n (n + 1) / 2, where W is the sum of a random subset of the ranks
/// 1 .. n, each of which is in the subset with probability 1/2.
std::vector<double> rank_sum_distribution(std::size_t n) {
  std::vector<double> chance{1};
  for (std::size_t rank = 1; rank <= n; ++rank) {
    std::vector<double> next(chance.size() + rank);
    for (std::size_t w = 0; w < chance.size(); ++w) {
      next[w] += chance[w] / 2;
      next[w + rank] += chance[w] / 2;
    }
    chance = std::move(next);
  }
  return chance;
}

struct cut {
  std::size_t each_end = 0;  ///< number of averages outside at either end
  double outside = 0;        ///< probability that the true value is outside, at either end
};

/// Returns the largest cut that leaves a confidence of at least 0.95.
cut cut_for(std::size_t n) {
  constexpr double most_outside = 0.025;
  const std::vector<double> chance = rank_sum_distribution(n);
  cut found;
  for (double below = chance[0]; below <= most_outside; below += chance[found.each_end]) {
    found.outside = below;
    ++found.each_end;
  }
  return found;
}

}  // namespace

summary summary_of(std::vector<double> values) {
  std::ranges::sort(values);
  summary of{quantile(values, 0.5), values.front(), values.back(), 0};
  const double half = (quantile(values, 0.75) - quantile(values, 0.25)) / 2;
  of.spread = of.median != 0 ? half / std::abs(of.median) : 0;
  return of;
}

double typical_difference(std::span<const double> differences) {
  return quantile(walsh_averages(differences), 0.5);
}

std::optional<interval> difference_interval(std::span<const double> differences) {
  if (differences.size() < least_pairs) return std::nullopt;
  const std::vector<double> averages = walsh_averages(differences);
  // With W = w the smallest w averages lie below the true value: fewer than `each_end` lie there
  // with probability `outside`, and the same holds at the other end.
  const cut ends = cut_for(differences.size());
  return interval{averages[ends.each_end - 1], averages[averages.size() - ends.each_end],
                  1 - 2 * ends.outside};
}

std::optional<difference> relative_difference(std::span<const double> figures,
                                              std::span<const double> baseline) {
  const std::size_t pairs = std::min(figures.size(), baseline.size());
  if (pairs == 0) return std::nullopt;
  std::vector<double> shares;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (!(baseline[i] > 0)) return std::nullopt;
    shares.push_back(figures[i] / baseline[i] - 1);
  }
  return difference{typical_difference(shares), difference_interval(shares)};
}

}  // namespace creek::tool::compare
