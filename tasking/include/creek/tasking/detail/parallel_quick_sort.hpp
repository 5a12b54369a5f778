// SPDX-License-Identifier: Apache-2.0
// The parallel quicksort under parallel_sort: parallel partitions while few large ranges exist,
// then forks, then a serial sort.
#pragma once

#include <algorithm>
#include <iterator>

#include <creek/tasking/detail/parallel_partition.hpp>
#include <creek/tasking/detail/sequential_sort.hpp>
#include <creek/tasking/fork_join.hpp>

namespace creek::detail {

/// Operations of quicksort on elements. Called by several workers at once, on disjoint ranges.
template <class Order, class It>
concept quick_sort_order = requires(const Order& order, It it) {
  { order.pivot(it, it) } -> std::same_as<It>;  // a place near the median of [first, last)
  { order.partition(it, it, it, true) } -> std::same_as<It>;  // (lo, hi, pivot, or_equal), serially
  order.sort(it, it);                                         // serially
  { Order::leaf } -> std::convertible_to<std::size_t>;        // elements not worth a fork
};

template <class It, class Order>
requires quick_sort_order<Order, It>
class parallel_quick_sort {
 public:
  explicit parallel_quick_sort(const Order& order) : order_(order) {}

  void run(It first, It last) {
    const auto count = last - first;
    // Eight leaves per worker even out their unequal lengths; fewer forks would not be cheaper.
    leaf_ = std::max(static_cast<difference>(Order::leaf), count / (8 * workers_));
    if (workers_ == 1 || count <= leaf_) return order_.sort(first, last);
    strip_ = std::max(leaf_ / 2, count / (4 * workers_));
    sort(first, last, bad_step_budget(first, last));
  }

 private:
  using difference = std::iter_difference_t<It>;

  void sort(It first, It last, int bad_steps_left) {
    if (last - first <= leaf_ || bad_steps_left == 0) return order_.sort(first, last);
    std::ranges::iter_swap(first, order_.pivot(first, last));
    const auto step =
        split_around_first(first, last, [this](It lo, It hi, It pivot, bool or_equal) {
          return partition(lo, hi, pivot, or_equal);
        });
    if (is_lopsided(first, last, step)) --bad_steps_left;
    fork_join([&] { sort(first, step.left_end, bad_steps_left); },
              [&] { sort(step.right_begin, last, bad_steps_left); });
  }

  // A range no larger than one worker's share is partitioned serially: the others have ranges too.
  It partition(It first, It last, It pivot, bool or_equal) {
    const auto strips = std::clamp<difference>((last - first) / strip_, 1, max_strips);
    return parallel_partition(
        first, last, strips > 4 ? static_cast<int>(strips) : 1,
        [&](It lo, It hi) { return order_.partition(lo, hi, pivot, or_equal); });
  }

  const Order& order_;
  const difference workers_ = static_cast<difference>(worker_count());
  difference leaf_ = 0, strip_ = 0;
};

}  // namespace creek::detail
