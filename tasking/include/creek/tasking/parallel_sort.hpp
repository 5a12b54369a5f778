// SPDX-License-Identifier: Apache-2.0
// Parallel sorting, stable and not, of all that std::sort takes.
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <ranges>

#include <creek/tasking/detail/key_sort.hpp>
#include <creek/tasking/detail/merge_sort.hpp>
#include <creek/tasking/detail/parallel_quick_sort.hpp>

namespace creek {

namespace detail {

template <class It, class Compare>
struct sortable_requirements {
  using element = std::iter_reference_t<It>;
  using value = std::iter_value_t<It>;
  static_assert(
      std::predicate<Compare&, element, element>,
      "a sort needs an order: operator< of the elements, or less(a, b) that returns bool");
  static_assert(std::is_move_constructible_v<value> && std::is_assignable_v<element, value>,
                "a sort moves elements: they must be movable and not const");
  static constexpr bool met = true;
};

/// Quicksort by comparisons.
template <class It, class Compare>
class comparison_order {
 public:
  explicit comparison_order(Compare& less) : less_(less) {}

  static constexpr std::size_t leaf = 1024;
  It pivot(It first, It last) const { return choose_pivot(first, last, less_, 4); }
  It partition(It first, It last, It at, bool or_equal) const {
    return partition_around(first, last, at, or_equal, less_);
  }
  void sort(It first, It last) const { sequential_sort(first, last, less_); }

 private:
  Compare& less_;
};

}  // namespace detail

/// Sorts [first, last) by `less`, a strict weak order; equal elements end up in any order. Elements
/// may be move-only; their moves must not throw. `less` is called from several workers at once.
/// Threads: inside a runtime on its workers, outside in this thread. Returns when all is done.
/// Errors: an exception of `less` is rethrown, and the range then holds all its elements, each
/// once, in some order. The same holds if `less` is no strict weak order, for instance over NaNs.
/// Arithmetic types with std::less or std::greater are sorted with vector instructions, up to ten
/// times faster; there NaNs are allowed and end up last in either order. Cost: O(n log n)
/// comparisons at worst; no memory, but up to 280 KiB per worker for elements that are trivially
/// copyable and no larger than 32 bytes. Sorted and reversed ranges take one pass.
template <std::random_access_iterator It, class Compare = std::less<>>
void parallel_sort(It first, It last, Compare less = {}) {
  static_assert(detail::sortable_requirements<It, Compare>::met);
  if (last - first < 2) return;
  if constexpr (detail::key_sortable<It, Compare>) {
    using key = std::iter_value_t<It>;
    detail::sort_keys(std::to_address(first), static_cast<std::size_t>(last - first),
                      detail::key_kind_of<key>(), detail::is_descending<Compare, key>);
  } else {
    if (detail::sorted_or_reversed(first, last, less)) return;
    const detail::comparison_order<It, Compare> order(less);
    detail::parallel_quick_sort<It, detail::comparison_order<It, Compare>>(order).run(first, last);
  }
}

/// Sorts a whole range.
template <std::ranges::random_access_range Range, class Compare = std::less<>>
requires std::ranges::sized_range<Range>
void parallel_sort(Range&& range, Compare less = {}) {
  const auto first = std::ranges::begin(range);
  parallel_sort(first, first + std::ranges::ssize(range), std::move(less));
}

/// Sorts [first, last) by `less`; equal elements keep their order. Otherwise as parallel_sort, but:
/// Memory: room for n more elements; where that cannot be had, the sort works in place, with
/// O(n log^2 n) moves. Cost: O(n log n) comparisons at worst; a range that is already sorted takes
/// one pass. Integers go to parallel_sort: equal ones cannot be told apart.
template <std::random_access_iterator It, class Compare = std::less<>>
void parallel_stable_sort(It first, It last, Compare less = {}) {
  static_assert(detail::sortable_requirements<It, Compare>::met);
  if (last - first < 2) return;
  if constexpr (detail::stably_key_sortable<It, Compare>) {
    parallel_sort(first, last, less);
  } else {
    if (detail::sorted_or_reversed(first, last, less)) return;
    detail::stable_sort(first, last, less);
  }
}

/// Sorts a whole range, stably.
template <std::ranges::random_access_range Range, class Compare = std::less<>>
requires std::ranges::sized_range<Range>
void parallel_stable_sort(Range&& range, Compare less = {}) {
  const auto first = std::ranges::begin(range);
  parallel_stable_sort(first, first + std::ranges::ssize(range), std::move(less));
}

}  // namespace creek
