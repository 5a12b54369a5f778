// SPDX-License-Identifier: Apache-2.0
// The default numbers of workers, or cores, of a study.
#pragma once
#include <vector>

namespace creek::tool {

/// Returns `first`, 2 first, 4 first, ... or by another factor, and `most`, which is at least 1.
template <class T>
std::vector<T> doubling(T first, T most, T factor = 2) {
  std::vector<T> numbers;
  for (T n = first; n < most; n *= factor) numbers.push_back(n);
  numbers.push_back(most);
  return numbers;
}

}  // namespace creek::tool
