// SPDX-License-Identifier: Apache-2.0
// Sorting of what may change meanwhile.
#pragma once

#include <algorithm>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Sorts by comparisons that need not agree with each other, as those of keys in a mapped file that
/// another process overwrites: the order is then any, where std::sort would leave the range. Two to
/// three times as slow as std::sort.
template <class Range, class Before>
void heap_sort(Range&& range, const Before& before) {
  std::ranges::make_heap(range, before);
  std::ranges::sort_heap(range, before);
}

}  // namespace creek::mapreduce::detail
