// SPDX-License-Identifier: Apache-2.0
// The serial sort below the parallel one: a quicksort with a branch-free partition.
//
// std::sort would do but for two properties that are promised to users. Elements are only swapped,
// or lifted by an object that puts them back: if the comparator throws, the range still holds every
// element exactly once. And no loop relies on the comparator for its end: one that is no strict
// weak order gives some permutation, never an access outside the range. Sources: BlockQuicksort
// [Edelkamp 2016] for the partition, pattern-defeating quicksort [Peters 2021] for the bad-pivot
// budget and the breaking of patterns. Different here from the latter: equal
// elements are gathered whenever a partition comes out lopsided. Small plain values are sorted by
// copies on the lower levels (copying_sort.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <creek/core/language.hpp>
#include <creek/tasking/detail/copying_sort.hpp>

namespace creek::detail {

/// An element lifted out of its place; on destruction it is put into the place that is free then.
template <class It>
class lifted {
 public:
  explicit lifted(It place) : place_(place), value_(std::ranges::iter_move(place)) {}
  lifted(const lifted&) = delete;
  lifted& operator=(const lifted&) = delete;
  ~lifted() { *place_ = std::move(value_); }

  const std::iter_value_t<It>& value() const noexcept { return value_; }

  /// Moves the element at `from` into the free place; `from` is free then.
  void fill_from(It from) {
    *place_ = std::ranges::iter_move(from);
    place_ = from;
  }

 private:
  It place_;
  std::iter_value_t<It> value_;
};

/// Stable; quadratic, for a few dozen elements.
template <class It, class Compare>
void insertion_sort(It first, It last, Compare& less) {
  if (first == last) return;
  for (It i = first + 1; i < last; ++i) {
    if (!less(*i, *(i - 1))) continue;
    lifted<It> moving(i);
    It place = i;
    do {
      moving.fill_from(place - 1);
      --place;
    } while (place != first && less(moving.value(), *(place - 1)));
  }
}

/// Maximum number of elements for sort_few().
template <class It>
inline constexpr std::iter_difference_t<It> few_elements = sorts_by_copies<It> ? max_merged : 24;

/// Sorts up to few_elements, stably.
template <class It, class Compare>
void sort_few(It first, It last, Compare& less) {
  if constexpr (sorts_by_copies<It>) {
    auto* const range = std::to_address(first);
    if (detail::merge_few(range, static_cast<std::size_t>(last - first), range, less)) return;
  }
  insertion_sort(first, last, less);
}

/// Heap sort by swaps: what quicksort falls back to when its pivots keep being bad.
template <class It, class Compare>
void heap_sort(It first, It last, Compare& less) {
  const auto count = last - first;
  const auto sift_down = [&](auto root, auto size) {
    for (auto child = 2 * root + 1; child < size; child = 2 * root + 1) {
      if (child + 1 < size && less(first[child], first[child + 1])) ++child;
      if (!less(first[root], first[child])) return;
      std::ranges::iter_swap(first + root, first + child);
      root = child;
    }
  };
  for (auto root = count / 2; root > 0;) sift_down(--root, count);
  for (auto size = count; size > 1;) {
    --size;
    std::ranges::iter_swap(first, first + size);
    sift_down(std::iter_difference_t<It>(0), size);
  }
}

/// Returns the middle one of three elements.
template <class It, class Compare>
It median_of_three(It a, It b, It c, Compare& less) {
  if (less(*b, *a)) std::swap(a, b);
  if (!less(*c, *b)) return b;
  return less(*c, *a) ? a : c;
}

/// Returns a pivot for [first, last): the middle of the range if it is short, else a median of
/// medians of three over 3^levels elements spread evenly.
template <class It, class Compare>
It choose_pivot(It first, It last, Compare& less, int levels) {
  const auto third = (last - first) / 3;
  if (levels == 0 || third == 0) return first + (last - first) / 2;
  It a = choose_pivot(first, first + third, less, levels - 1);
  It b = choose_pivot(first + third, first + 2 * third, less, levels - 1);
  It c = choose_pivot(first + 2 * third, last, less, levels - 1);
  return median_of_three(a, b, c, less);
}

/// Partitions by two moving ends: for what is left between the blocks of block_partition.
template <class It, class Belongs>
It two_way_partition(It first, It last, Belongs& belongs_left) {
  for (;;) {
    while (first != last && belongs_left(*first)) ++first;
    do {
      if (first == last) return first;
      --last;
    } while (!belongs_left(*last));
    if (first == last) return first;
    std::ranges::iter_swap(first, last);
    ++first;
  }
}

/// Exchanges the elements at first + left[i] and last - right[i], for `pairs` places, in one cycle:
/// a third fewer moves than by swaps.
template <class It>
void exchange(It first, const unsigned char* left, It last, const unsigned char* right, int pairs) {
  if (pairs == 0) return;
  std::iter_value_t<It> carried(std::ranges::iter_move(first + left[0]));
  for (int i = 0; i + 1 < pairs; ++i) {
    first[left[i]] = std::ranges::iter_move(last - right[i]);
    *(last - right[i]) = std::ranges::iter_move(first + left[i + 1]);
  }
  first[left[pairs - 1]] = std::ranges::iter_move(last - right[pairs - 1]);
  *(last - right[pairs - 1]) = std::move(carried);
}

/// Reorders [first, last) so that elements with belongs_left(x) come first; returns the first
/// other. Offsets of misplaced elements are gathered for a block from either end without a branch
/// on the outcome, then exchanged in pairs. Not stable; no element is missing while belongs_left
/// runs.
template <class It, class Belongs>
It block_partition(It first, It last, Belongs& belongs_left) {
  constexpr int block = 64;
  unsigned char left_at[block], right_at[block];
  int left_begin = 0, left_count = 0, right_begin = 0, right_count = 0;
  while (last - first >= 2 * block) {
    if (left_count == 0) {
      left_begin = 0;
      It it = first;
      for (int i = 0; i < block; ++i, ++it) {
        left_at[left_count] = static_cast<unsigned char>(i);
        left_count += !belongs_left(*it);
      }
    }
    if (right_count == 0) {
      right_begin = 0;
      It it = last;
      for (int i = 1; i <= block; ++i) {
        right_at[right_count] = static_cast<unsigned char>(i);
        right_count += static_cast<bool>(belongs_left(*--it));
      }
    }
    const int pairs = std::min(left_count, right_count);
    exchange(first, left_at + left_begin, last, right_at + right_begin, pairs);
    left_begin += pairs, left_count -= pairs;
    right_begin += pairs, right_count -= pairs;
    if (left_count == 0) first += block;
    if (right_count == 0) last -= block;
  }
  return two_way_partition(first, last, belongs_left);  // looks again at a block not yet passed
}

/// A pivot that can be read while others are moved: small plain values are copied out of the range,
/// which lets them stay in a register; others are read where they lie.
template <class It>
using pivot_view = std::conditional_t<std::is_trivially_copyable_v<std::iter_value_t<It>> &&
                                          std::copy_constructible<std::iter_value_t<It>> &&
                                          sizeof(std::iter_value_t<It>) <= 2 * sizeof(void*),
                                      const std::iter_value_t<It>, const std::iter_value_t<It>&>;

/// Partitions [first, last) into x < pivot and the rest or, with `or_equal`, x <= pivot and the
/// rest. `pivot` lies outside the range.
template <class It, class Compare>
It partition_around(It first, It last, It pivot, bool or_equal, Compare& less) {
  pivot_view<It> value = *pivot;
  if (or_equal) {
    auto not_above = [&value, &less](const auto& x) { return !less(value, x); };
    return block_partition(first, last, not_above);
  }
  auto below = [&value, &less](const auto& x) { return static_cast<bool>(less(x, value)); };
  return block_partition(first, last, below);
}

/// Ranges that a quicksort step leaves to sort: [first, left_end) and [right_begin, last); the
/// elements between them are in place.
template <class It>
struct quick_step {
  It left_end, right_begin;
};

/// One step of quicksort around the element at `first`, with partition(lo, hi, pivot, or_equal).
/// If few elements are below the pivot, those equal to it may be many: they are set aside too.
template <class It, class Partition>
quick_step<It> split_around_first(It first, It last, Partition&& partition) {
  It mid = partition(first + 1, last, first, false);
  const It pivot = mid - 1;
  std::ranges::iter_swap(first, pivot);
  if (pivot - first < (last - first) / 8) mid = partition(mid, last, pivot, true);
  return {pivot, mid};
}

/// Returns whether a step left more than 7/8 of `count` on one side. Such steps are counted against
/// a budget of log2(count), which bounds the work by O(n log n).
template <class It>
bool is_lopsided(It first, It last, const quick_step<It>& step) {
  const auto most = (last - first) - (last - first) / 8;
  return step.left_end - first > most || last - step.right_begin > most;
}

/// Exchanges a few elements of a range whose order has fooled the choice of pivots.
template <class It>
void break_pattern(It first, It last) {
  const auto count = last - first;
  if (count < 16) return;
  for (int i = 1; i <= 3; ++i) {
    std::ranges::iter_swap(first + i, first + (count / 4) * i);
    std::ranges::iter_swap(last - i, last - (count / 4) * i - 1);
  }
}

template <class It>
int bad_step_budget(It first, It last) {
  return static_cast<int>(std::bit_width(static_cast<std::size_t>(last - first)));
}

/// Quicksort. `sort_otherwise(first, last)` is asked first about each range: it sorts it and
/// returns true, or returns false.
template <class It, class Compare, class Otherwise>
void quick_sort(It first, It last, Compare& less, int bad_steps_left, Otherwise& sort_otherwise) {
  constexpr int spread_limit = 512;
  while (last - first > few_elements<It>) {
    if (sort_otherwise(first, last)) return;
    if (bad_steps_left == 0) return heap_sort(first, last, less);
    const It pivot = choose_pivot(first, last, less, last - first > spread_limit ? 3 : 1);
    std::ranges::iter_swap(first, pivot);
    const auto step = split_around_first(first, last, [&](It lo, It hi, It at, bool or_equal) {
      return partition_around(lo, hi, at, or_equal, less);
    });
    if (is_lopsided(first, last, step)) {
      --bad_steps_left;
      break_pattern(first, step.left_end);
      break_pattern(step.right_begin, last);
    }
    // Recurse into the shorter side: the stack stays below log2(n) frames.
    if (step.left_end - first < last - step.right_begin) {
      quick_sort(first, step.left_end, less, bad_steps_left, sort_otherwise);
      first = step.right_begin;
    } else {
      quick_sort(step.right_begin, last, less, bad_steps_left, sort_otherwise);
      last = step.left_end;
    }
  }
  sort_few(first, last, less);
}

template <class It, class Compare>
void quick_sort(It first, It last, Compare& less) {
  const auto by_steps_alone = [](It, It) { return false; };
  quick_sort(first, last, less, bad_step_budget(first, last), by_steps_alone);
}

/// Sorts [first, last), not stably; O(n log n) comparisons at worst, O(log n) stack. Small plain
/// values take up to some 280 KiB of memory where it can be had, other elements none.
template <class It, class Compare>
void sequential_sort(It first, It last, Compare& less) {
  if constexpr (sorts_by_copies<It>) {
    using value = std::iter_value_t<It>;
    bucket_sort<value, Compare> sort_in_cache(static_cast<std::size_t>(last - first), less);
    const auto by_buckets = [&](It lo, It hi) {
      return sort_in_cache(std::to_address(lo), std::to_address(lo) + (hi - lo),
                           [&](value* from, value* to) { detail::quick_sort(from, to, less); });
    };
    quick_sort(first, last, less, bad_step_budget(first, last), by_buckets);
  } else {
    quick_sort(first, last, less);
  }
}

/// Returns true if nothing is to be done; also reverses a range that is strictly descending. Stops
/// at the first pair that is out of order, which in random data is at once.
template <class It, class Compare>
bool sorted_or_reversed(It first, It last, Compare& less) {
  if (last - first < 2) return true;
  if (!less(first[1], first[0])) return std::is_sorted(first, last, std::ref(less));
  const auto not_descending = [&less](const auto& a, const auto& b) { return !less(b, a); };
  if (std::adjacent_find(first, last, not_descending) != last) return false;
  std::reverse(first, last);
  return true;
}

}  // namespace creek::detail
