// SPDX-License-Identifier: Apache-2.0
// A partition by many workers, in place.
//
// The range is cut into strips that are partitioned independently; then as many elements of the
// right kind lie before the final boundary as elements of the left kind lie behind it, each in at
// most one interval per strip, and these are swapped pairwise, again in parallel. On random data
// that is one read and write of everything and a second of about half; no memory beyond the list of
// strips. Source: the two phases are those of [Francis 1992].
#pragma once

#include <algorithm>
#include <array>
#include <iterator>

#include <creek/tasking/detail/strips.hpp>
#include <creek/tasking/parallel_for.hpp>

namespace creek::detail {

/// Intervals of a range that are seen as one sequence of slots.
template <class It, int Capacity>
class interval_list {
 public:
  void add(It first, It last) {
    if (first >= last) return;
    first_[size_] = first;
    begin_[size_ + 1] = begin_[size_] + (last - first);
    ++size_;
  }
  std::iter_difference_t<It> slots() const { return begin_[size_]; }

  /// Calls visit(first, n) for the runs of places that hold slots [slot, slot + n).
  struct cursor {
    const interval_list& list;
    int index;
    std::iter_difference_t<It> slot;
    It place() const { return list.first_[index] + (slot - list.begin_[index]); }
    std::iter_difference_t<It> run() const { return list.begin_[index + 1] - slot; }
    void advance(std::iter_difference_t<It> n) {
      slot += n;
      if (slot == list.begin_[index + 1]) ++index;
    }
  };
  cursor at(std::iter_difference_t<It> slot) const {
    const auto* end = begin_.data() + size_ + 1;
    const auto* above = std::upper_bound(begin_.data(), end, slot);
    return {*this, static_cast<int>(above - begin_.data()) - 1, slot};
  }

 private:
  std::array<It, Capacity> first_{};
  std::array<std::iter_difference_t<It>, Capacity + 1> begin_{};
  int size_ = 0;
};

template <class It>
using strip_list = interval_list<It, max_strips>;

/// Swaps slot k of one list with slot k of the other, for all k.
template <class It>
void swap_slots(const strip_list<It>& left, const strip_list<It>& right) {
  parallel_for_range(std::iter_difference_t<It>(0), left.slots(),
                     [&](auto lo, auto hi) {
                       auto a = left.at(lo), b = right.at(lo);
                       while (lo < hi) {
                         const auto n = std::min({a.run(), b.run(), hi - lo});
                         std::swap_ranges(a.place(), a.place() + n, b.place());
                         a.advance(n), b.advance(n);
                         lo += n;
                       }
                     },
                     {.grain = 4096});
}

/// Reorders [first, last) so that elements of the left kind come first; returns the first other.
/// partition(lo, hi) does so for a strip and returns its boundary; it is called for all strips
/// concurrently. `strips` is in 1 .. max_strips.
template <class It, class Partition>
It parallel_partition(It first, It last, int strips, Partition&& partition) {
  if (strips == 1) return partition(first, last);
  const auto begin_of = [=](int i) { return strip_begin(first, last, strips, i); };
  std::array<It, max_strips> boundary{};
  parallel_for(0, strips, [&](int i) { boundary[i] = partition(begin_of(i), begin_of(i + 1)); },
               {.grain = 1});
  It middle = first;
  for (int i = 0; i < strips; ++i) middle += boundary[i] - begin_of(i);
  strip_list<It> rights_before, lefts_behind;
  for (int i = 0; i < strips; ++i) {
    rights_before.add(boundary[i], std::min(begin_of(i + 1), middle));
    lefts_behind.add(std::max(begin_of(i), middle), boundary[i]);
  }
  swap_slots(rights_before, lefts_behind);
  return middle;
}

}  // namespace creek::detail
