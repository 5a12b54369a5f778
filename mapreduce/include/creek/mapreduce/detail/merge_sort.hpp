// SPDX-License-Identifier: Apache-2.0
// Merge sort.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Sorts with O(n log n) comparisons; `scratch` is at least as long. Stable. Like heap_sort() it
/// accesses only its range, even if comparisons contradict each other; it is faster than that.
template <class T, class Before>
void merge_sort(std::span<T> all, std::span<T> scratch, const Before& before) {
  constexpr std::size_t few = 12;
  if (all.size() <= few) {
    for (std::size_t i = 1; i < all.size(); ++i) {
      const T next = all[i];
      std::size_t at = i;
      for (; at > 0 && before(next, all[at - 1]); --at) all[at] = all[at - 1];
      all[at] = next;
    }
    return;
  }
  const std::size_t half = all.size() / 2;
  merge_sort(all.first(half), scratch, before);
  merge_sort(all.subspan(half), scratch, before);
  if (!before(all[half], all[half - 1])) return;
  std::ranges::copy(all.first(half), scratch.begin());
  std::size_t left = 0, right = half, to = 0;
  while (left < half && right < all.size()) {
    all[to++] = before(all[right], scratch[left]) ? all[right++] : scratch[left++];
  }
  while (left < half) all[to++] = scratch[left++];
}

}  // namespace creek::mapreduce::detail
