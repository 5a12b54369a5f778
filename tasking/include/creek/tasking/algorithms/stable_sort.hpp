// SPDX-License-Identifier: Apache-2.0
// stable_sort in parallel, by the standard library's name.
#pragma once

#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/parallel_sort.hpp>

namespace creek {

namespace detail {

struct stable_sort_function {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            operation Comp = std::ranges::less, operation Proj = std::identity>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    using projected = projected_t<Proj, I>;
    static_assert(order_requirements<Comp, projected, projected>::met);
    const I end = first + (last - first);
    if constexpr (std::same_as<Proj, std::identity>) {
      parallel_stable_sort(first, end, std::move(comp));
    } else {
      parallel_stable_sort(first, end, projected_pair_call<Comp, Proj, Proj>{comp, proj, proj});
    }
    return end;
  }
  template <parallel_range R, operation Comp = std::ranges::less, operation Proj = std::identity>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), end_of(range), std::move(comp), std::move(proj));
  }
};

}  // namespace detail

/// stable_sort(first, last, comp = less, proj = {}), stable_sort(range, comp = {}, proj = {}):
/// sorts by comp(proj(a), proj(b)); equal elements keep their order. Returns the end of the range,
/// as std::ranges::stable_sort does. Memory: room for n more elements; where that cannot be had, it
/// throws no std::bad_alloc but sorts in place, with O(n log^2 n) moves. Otherwise as
/// parallel_stable_sort.
inline constexpr detail::stable_sort_function stable_sort{};

}  // namespace creek
