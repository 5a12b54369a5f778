// SPDX-License-Identifier: Apache-2.0
// unique in parallel, by the standard library's name.
#pragma once

#include <algorithm>
#include <array>

#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/detail/strips.hpp>
#include <creek/tasking/parallel_for.hpp>

namespace creek {

namespace detail {

struct unique_function {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S,
            operation Comp = std::ranges::equal_to, operation Proj = std::identity>
  I operator()(I first, S last, Comp comp = {}, Proj proj = {}) const {
    using projected = projected_t<Proj, I>;
    static_assert(predicate_requirements<Comp, projected, projected>::met);
    static_assert(std::permutable<I>, "unique moves elements: they must be movable and not const");
    const I end = first + (last - first);
    projected_pair_call<Comp, Proj, Proj> same{comp, proj, proj};
    return run(first, end, same);
  }
  template <parallel_range R, operation Comp = std::ranges::equal_to,
            operation Proj = std::identity>
  std::ranges::borrowed_iterator_t<R> operator()(R&& range, Comp comp = {}, Proj proj = {}) const {
    return (*this)(std::ranges::begin(range), end_of(range), std::move(comp), std::move(proj));
  }

 private:
  /// Removes repetitions in each strip concurrently, then closes the gaps between strips.
  template <class I, class Same>
  static I run(I first, I last, Same& same) {
    const int strips = strip_count(last - first, 8);
    if (strips == 1) return std::unique(first, last, same);

    const auto begin_of = [=](int i) { return strip_begin(first, last, strips, i); };
    struct strip {
      I begin, end;  // of what is kept
    };
    std::array<strip, max_strips> kept{};
    // Before any element moves: whether a strip's first element repeats the one in front of it.
    for (int i = 0; i < strips; ++i) {
      const I begin = begin_of(i);
      const bool repeats = i > 0 && same(*(begin - 1), *begin);
      kept[static_cast<std::size_t>(i)].begin = begin + (repeats ? 1 : 0);
    }
    parallel_for(0, strips,
                 [&](int i) {
                   kept[static_cast<std::size_t>(i)].end =
                       std::unique(begin_of(i), begin_of(i + 1), same);
                 },
                 {.grain = 1});
    I out = kept[0].end;
    for (int i = 1; i < strips; ++i) {
      const auto [begin, end] = kept[static_cast<std::size_t>(i)];
      out = out == begin ? end : std::ranges::move(begin, end, out).out;
    }
    return out;
  }
};

}  // namespace detail

/// unique(first, last, comp = equal_to, proj = {}), unique(range, comp = {}, proj = {}): moves the
/// first element of each run of equal ones to the front, in their order, and returns the end of
/// those, as std::unique does: the elements behind it are to be erased. `comp` is an
/// equivalence relation and is called n - 1 times at most, from several workers at once.
/// Inside a runtime on its workers, outside in this thread. Errors: an exception of `comp` is
/// rethrown; elements are then valid, but some may have been moved from. Cost: comparisons are
/// divided among the workers; closing the gaps that this leaves takes one serial move per element,
/// none where nothing was removed. No memory.
inline constexpr detail::unique_function unique{};

}  // namespace creek
