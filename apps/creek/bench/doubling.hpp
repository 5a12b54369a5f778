// SPDX-License-Identifier: Apache-2.0
// The default numbers of workers, or cores, of a study.
#pragma once

#include <vector>

namespace creek::tool::bench {

/// Returns 1, 2, 4, ... and `most`, which must be at least 1.
template <class T>
std::vector<T> doubling(T most) {
  std::vector<T> numbers;
  for (T n = 1; n < most; n *= 2) numbers.push_back(n);
  numbers.push_back(most);
  return numbers;
}

}  // namespace creek::tool::bench
