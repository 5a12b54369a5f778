// SPDX-License-Identifier: Apache-2.0
// The median of a benchmark's rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bench {

/// Returns the median of at least one value; for an even number the upper of the middle two.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace bench
