// SPDX-License-Identifier: Apache-2.0
// Classes of numbers of active workers, for where there are too many numbers to show each.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace creek::tool::compare {

/// A range: `first` to `last` workers are in tasks.
struct activity_class {
  std::size_t first = 0, last = 0;
  std::string label;
};

/// Returns one class per number for up to 8 workers, and at most nine classes for more: none, seven
/// of about the same width, all.
inline std::vector<activity_class> activity_classes(unsigned workers) {
  std::vector<activity_class> classes{{0, 0, "0"}};
  const std::size_t between = workers > 0 ? workers - 1 : 0;
  const std::size_t count = between <= 7 ? between : 7;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = 1 + between * i / count, last = between * (i + 1) / count;
    classes.push_back({first, last,
                       first == last ? std::to_string(first)
                                     : std::to_string(first) + "-" + std::to_string(last)});
  }
  if (workers > 0) classes.push_back({workers, workers, std::to_string(workers)});
  return classes;
}

inline double share_of(const activity_class& of, const std::vector<double>& shares) {
  double sum = 0;
  for (std::size_t i = of.first; i <= of.last && i < shares.size(); ++i) sum += shares[i];
  return sum;
}

inline double mean_workers(const std::vector<double>& shares) {
  double mean = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) mean += static_cast<double>(i) * shares[i];
  return mean;
}

}  // namespace creek::tool::compare
