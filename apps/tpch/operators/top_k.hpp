// SPDX-License-Identifier: Apache-2.0
// Finds the first rows of an order without sorting the others.
#pragma once

#include <algorithm>
#include <creek/tasking/parallel_reduce.hpp>
#include <cstddef>
#include <utility>
#include <vector>

namespace creek::tpch {

/// Keeps the first `k` of the items that it is given, in the order of `before`. An item that is not
/// kept, the usual case, costs one comparison; one that is kept costs O(log k). Memory: k items. If
/// no two items are equal in the order, the outcome does not depend on the order in which they
/// come. Used by one thread.
template <class T, class Before>
class top_k {
 public:
  /// `before` must outlive the object.
  top_k(std::size_t k, const Before& before) : k_(k), before_(&before) {}

  void add(T item) {
    if (heap_.size() < k_) {
      heap_.push_back(std::move(item));
      std::ranges::push_heap(heap_, *before_);
    } else if (k_ > 0 && (*before_)(item, heap_.front())) {
      std::ranges::pop_heap(heap_, *before_);
      heap_.back() = std::move(item);
      std::ranges::push_heap(heap_, *before_);
    }
  }

  void add_all(top_k other) {
    for (T& item : other.heap_) add(std::move(item));
  }

  /// Returns the items kept, in order. Call it once.
  [[nodiscard]] std::vector<T> take() {
    std::ranges::sort_heap(heap_, *before_);
    return std::move(heap_);
  }

 private:
  std::size_t k_;
  const Before* before_;
  std::vector<T> heap_;  // heap whose front is the last of the kept items
};

/// Returns the first `k` of item(0) ... item(n - 1), in order; parallel on the runtime that this
/// runs in. `before` is a strict weak order, and the answer is the same for any number of workers
/// if no two items are equal in it.
template <class Item, class Before>
auto first_of(std::size_t n, std::size_t k, Item&& item, const Before& before) {
  using T = decltype(item(n));
  using kept = top_k<T, Before>;
  return parallel_reduce_range(
             std::size_t{0}, n, kept(k, before),
             [&](std::size_t i, std::size_t last, kept so_far) {
               for (; i < last; ++i) so_far.add(item(i));
               return so_far;
             },
             [](kept left, kept right) {
               left.add_all(std::move(right));
               return left;
             })
      .take();
}

}  // namespace creek::tpch
