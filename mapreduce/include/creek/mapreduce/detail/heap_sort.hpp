// SPDX-License-Identifier: Apache-2.0
// Sort that stays within its range even if the keys change meanwhile.
#pragma once

#include <algorithm>

#include <creek/core/language.hpp>

namespace creek::mapreduce::detail {

/// Sorts with comparisons that may contradict each other, such as those of keys in a mapped file
/// that another process overwrites: the order is then arbitrary, whereas std::sort would leave the
/// range. Two to three times as slow as std::sort.
template <class Range, class Before>
void heap_sort(Range&& range, const Before& before) {
  std::ranges::make_heap(range, before);
  std::ranges::sort_heap(range, before);
}

}  // namespace creek::mapreduce::detail
