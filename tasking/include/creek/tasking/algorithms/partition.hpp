// SPDX-License-Identifier: Apache-2.0
// partition in parallel, by the standard library's name.
#pragma once

#include <algorithm>

#include <creek/tasking/detail/parallel_partition.hpp>
#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/detail/strips.hpp>

namespace creek {

namespace detail {

struct partition_function {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S, operation Pred,
            operation Proj = std::identity>
  I operator()(I first, S last, Pred pred, Proj proj = {}) const {
    static_assert(predicate_requirements<Pred, projected_t<Proj, I>>::met);
    static_assert(std::permutable<I>,
                  "partition moves elements: they must be movable and not const");
    const I end = first + (last - first);
    const auto serially = [&](I lo, I hi) {
      return std::partition(lo, hi, projected_call<Pred, Proj>{pred, proj});
    };
    return parallel_partition(first, end, strip_count(end - first, 4), serially);
  }
  template <parallel_range R, operation Pred, operation Proj = std::identity>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Pred pred, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), end_of(range), std::move(pred), std::move(proj));
  }
};

}  // namespace detail

/// partition(first, last, pred, proj = {}), partition(range, pred, proj = {}): reorders elements so
/// that those for which pred(proj(x)) is true come first; returns the start of the others, as
/// std::partition does. Not stable: neither part keeps its order. `pred` is called once per
/// element, from several workers at once. Moves must not throw.
/// Inside a runtime on its workers, outside in this thread. Errors: an exception of `pred` is
/// rethrown; the range then holds all its elements, each once, in some order. Cost: n calls and up
/// to n swaps, divided among the workers. No memory.
inline constexpr detail::partition_function partition{};

}  // namespace creek
