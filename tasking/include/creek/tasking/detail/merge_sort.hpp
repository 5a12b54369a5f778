// SPDX-License-Identifier: Apache-2.0
// The stable sort: a merge sort between the range and a buffer of its size, with parallel merges.
//
// Every function here that is given a target leaves all its elements in that target, also when the
// comparator throws: a merge that is cut short moves what it had not yet merged behind what it had.
// That is what parallel_stable_sort promises, and it is kept by induction over the tree of merges.
// Source of the cut of a merge into independent ones: [Cormen 2009], section 27.3
// (the longer run is halved and the cut searched in the other), with ties kept on
// their side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <creek/tasking/detail/sequential_sort.hpp>
#include <creek/tasking/fork_join.hpp>
#include <creek/tasking/this_worker.hpp>

namespace creek::detail {

/// Elements below which sorting and merging is serial: 10-50 us of work.
inline constexpr std::ptrdiff_t merge_grain = 4096;

/// Merges [a, a_end) and [b, b_end) to `out`, ties from a first. If `less` throws, the rest of both
/// is moved behind the merged elements.
template <class From, class To, class Compare>
void merge_runs(From a, From a_end, From b, From b_end, To out, Compare& less) {
  try {
    const bool in_order = a == a_end || b == b_end || !less(*b, *(a_end - 1));
    while (!in_order && a != a_end && b != b_end) {
      const bool from_b = less(*b, *a);
      *out = std::ranges::iter_move(from_b ? b : a);
      ++out;
      b += from_b;
      a += !from_b;
    }
  } catch (...) {
    std::move(b, b_end, std::move(a, a_end, out));
    throw;
  }
  std::move(b, b_end, std::move(a, a_end, out));
}

/// Like merge_runs, but cut into independent merges that run concurrently.
template <class From, class To, class Compare>
void parallel_merge(From a, From a_end, From b, From b_end, To out, Compare& less) {
  const auto a_count = a_end - a, b_count = b_end - b;
  if (a_count + b_count <= 2 * merge_grain) return merge_runs(a, a_end, b, b_end, out, less);
  From a_cut = a, b_cut = b;
  try {
    if (a_count >= b_count) {  // all of b before the cut is less than *a_cut
      a_cut += a_count / 2;
      b_cut = std::lower_bound(b, b_end, *a_cut, std::ref(less));
    } else {  // all of a before the cut is not greater than *b_cut
      b_cut += b_count / 2;
      a_cut = std::upper_bound(a, a_end, *b_cut, std::ref(less));
    }
  } catch (...) {
    std::move(b, b_end, std::move(a, a_end, out));
    throw;
  }
  const To out_cut = out + (a_cut - a) + (b_cut - b);
  fork_join([&] { parallel_merge(a, a_cut, b, b_cut, out, less); },
            [&] { parallel_merge(a_cut, a_end, b_cut, b_end, out_cut, less); });
}

/// Merge sort between a range and a buffer. Elements are constructed in the buffer by the leaves of
/// the recursion, each its own, and live until the end: so every merge assigns to living objects.
template <class It, class Compare>
class buffered_sort {
 public:
  using value = std::iter_value_t<It>;
  using difference = std::iter_difference_t<It>;

  buffered_sort(It range, difference count, value* buffer, Compare& less)
      : range_(range), count_(count), buffer_(buffer), less_(less) {}
  buffered_sort(const buffered_sort&) = delete;
  buffered_sort& operator=(const buffered_sort&) = delete;
  ~buffered_sort() {
    if (started_) std::destroy_n(buffer_, count_);
  }

  void run() {
    started_ = true;
    sort_to_range(0, count_);
  }

 private:
  void sort_to_range(difference lo, difference hi) {
    if (hi - lo <= few_elements<It>) {
      if constexpr (!std::is_trivially_copyable_v<value>) {
        std::uninitialized_move(range_ + lo, range_ + hi, buffer_ + lo);
        std::move(buffer_ + lo, buffer_ + hi, range_ + lo);
      }
      return sort_few(range_ + lo, range_ + hi, less_);
    }
    const difference mid = lo + (hi - lo) / 2;
    sort_halves(
        hi - lo, [&] { sort_to_buffer(lo, mid); }, [&] { sort_to_buffer(mid, hi); },
        [&] { std::move(buffer_ + lo, buffer_ + hi, range_ + lo); });
    merge(buffer_ + lo, buffer_ + mid, buffer_ + hi, range_ + lo);
  }

  void sort_to_buffer(difference lo, difference hi) {
    if (hi - lo <= few_elements<It>) {
      std::uninitialized_move(range_ + lo, range_ + hi, buffer_ + lo);
      return sort_few(buffer_ + lo, buffer_ + hi, less_);
    }
    const difference mid = lo + (hi - lo) / 2;
    sort_halves(
        hi - lo, [&] { sort_to_range(lo, mid); }, [&] { sort_to_range(mid, hi); },
        [&] { std::move(range_ + lo, range_ + hi, buffer_ + lo); });
    merge(range_ + lo, range_ + mid, range_ + hi, buffer_ + lo);
  }

  // Sorts two halves to one side; on an exception moves both to the other side, the caller's
  // target.
  template <class Left, class Right, class MoveOver>
  void sort_halves(difference count, Left&& left, Right&& right, MoveOver&& move_over) {
    try {
      if (count > merge_grain && worker_count() > 1) {
        fork_join(left, right);
      } else {
        both(left, right);
      }
    } catch (...) {
      move_over();
      throw;
    }
  }

  // The second half is sorted even if the first throws, so that its elements too are in their
  // target.
  template <class Left, class Right>
  static void both(Left&& left, Right&& right) {
    try {
      left();
    } catch (...) {
      try {
        right();
      } catch (...) {
      }
      throw;
    }
    right();
  }

  template <class From, class To>
  void merge(From lo, From mid, From hi, To out) {
    if (hi - lo > 2 * merge_grain && worker_count() > 1) {
      parallel_merge(lo, mid, mid, hi, out, less_);
    } else {
      merge_runs(lo, mid, mid, hi, out, less_);
    }
  }

  It range_;
  difference count_;
  value* buffer_;
  Compare& less_;
  bool started_ = false;
};

/// Merges the neighbouring runs [first, mid) and [mid, last) by rotations: stable, needs no memory.
template <class It, class Compare>
void merge_in_place(It first, It mid, It last, Compare& less) {
  if (first == mid || mid == last) return;
  if (last - first == 2) {
    if (less(*mid, *first)) std::ranges::iter_swap(first, mid);
    return;
  }
  It a_cut = first, b_cut = mid;
  if (mid - first >= last - mid) {
    a_cut += (mid - first) / 2;
    b_cut = std::lower_bound(mid, last, *a_cut, std::ref(less));
  } else {
    b_cut += (last - mid) / 2;
    a_cut = std::upper_bound(first, mid, *b_cut, std::ref(less));
  }
  const It middle = std::rotate(a_cut, mid, b_cut);
  merge_in_place(first, a_cut, middle, less);
  merge_in_place(middle, b_cut, last, less);
}

/// Sorts stably without a buffer.
template <class It, class Compare>
void stable_sort_in_place(It first, It last, Compare& less) {
  if (last - first <= 24) return sort_few(first, last, less);
  const It mid = first + (last - first) / 2;
  const auto left = [&] { stable_sort_in_place(first, mid, less); };
  const auto right = [&] { stable_sort_in_place(mid, last, less); };
  if (last - first > merge_grain && worker_count() > 1) {
    fork_join(left, right);
  } else {
    left();
    right();
  }
  merge_in_place(first, mid, last, less);
}

/// Sorts [first, last) stably, with a buffer if there is memory for one.
template <class It, class Compare>
void stable_sort(It first, It last, Compare& less) {
  using value = std::iter_value_t<It>;
  const raw_buffer<value> buffer(static_cast<std::size_t>(last - first));
  if (buffer.data() == nullptr) return stable_sort_in_place(first, last, less);
  buffered_sort<It, Compare>(first, last - first, buffer.data(), less).run();
}

}  // namespace creek::detail
