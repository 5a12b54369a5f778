// SPDX-License-Identifier: Apache-2.0
// merge in parallel, by the standard library's name.
//
// Chunks of the output are independent: a binary search along a diagonal of the two inputs finds
// which elements make up the first d of the output. Source: [Odeh 2012].
#pragma once

#include <algorithm>

#include <creek/tasking/detail/merge_sort.hpp>
#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/parallel_for.hpp>

namespace creek {

namespace detail {

struct merge_function {
  template <std::random_access_iterator I1, std::sized_sentinel_for<I1> S1,
            std::random_access_iterator I2, std::sized_sentinel_for<I2> S2,
            std::random_access_iterator O, operation Comp = std::ranges::less,
            operation Proj1 = std::identity, operation Proj2 = std::identity>
  std::ranges::merge_result<I1, I2, O> operator()(I1 first1, S1 last1, I2 first2, S2 last2, O out,
                                                  Comp comp = {}, Proj1 proj1 = {},
                                                  Proj2 proj2 = {},
                                                  const parallel_options& options = {}) const {
    static_assert(requirements<I1, I2, O, Comp, Proj1, Proj2>::met);
    projected_pair_call<Comp, Proj2, Proj1> second_before_first{comp, proj2, proj1};
    const inputs<I1, I2> in{first1, first2, static_cast<position>(last1 - first1),
                            static_cast<position>(last2 - first2)};
    const position count = in.count1 + in.count2;
    parallel_options chunks = options;
    if (chunks.grain == 0) chunks.grain = merge_grain;
    parallel_for_range(
        position{0}, count,
        [&](position lo, position hi) {
          const position from1 = in.first_of(lo, 0, in.count1, second_before_first);
          const position to1 = in.first_of(hi, from1, from1 + (hi - lo), second_before_first);
          std::ranges::merge(cursor_at(first1, from1), cursor_at(first1, to1),
                             cursor_at(first2, lo - from1), cursor_at(first2, hi - to1),
                             cursor_at(out, lo), std::ref(comp), std::ref(proj1), std::ref(proj2));
        },
        chunks);
    return {cursor_at(first1, in.count1), cursor_at(first2, in.count2), cursor_at(out, count)};
  }
  template <std::random_access_iterator I1, std::sized_sentinel_for<I1> S1,
            std::random_access_iterator I2, std::sized_sentinel_for<I2> S2,
            std::random_access_iterator O, operation Comp>
  std::ranges::merge_result<I1, I2, O> operator()(I1 first1, S1 last1, I2 first2, S2 last2, O out,
                                                  Comp comp,
                                                  const parallel_options& options) const {
    return (*this)(first1, last1, first2, last2, out, std::move(comp), std::identity{},
                   std::identity{}, options);
  }
  template <parallel_range R1, parallel_range R2, std::random_access_iterator O,
            operation Comp = std::ranges::less, operation Proj1 = std::identity,
            operation Proj2 = std::identity>
  std::ranges::merge_result<std::ranges::borrowed_iterator_t<R1>,
                            std::ranges::borrowed_iterator_t<R2>, O>
  operator()(R1&& range1, R2&& range2, O out, Comp comp = {}, Proj1 proj1 = {}, Proj2 proj2 = {},
             const parallel_options& options = {}) const {
    return (*this)(std::ranges::begin(range1), end_of(range1), std::ranges::begin(range2),
                   end_of(range2), out, std::move(comp), std::move(proj1), std::move(proj2),
                   options);
  }
  template <parallel_range R1, parallel_range R2, std::random_access_iterator O, operation Comp>
  std::ranges::merge_result<std::ranges::borrowed_iterator_t<R1>,
                            std::ranges::borrowed_iterator_t<R2>, O>
  operator()(R1&& range1, R2&& range2, O out, Comp comp, const parallel_options& options) const {
    return (*this)(range1, range2, out, std::move(comp), std::identity{}, std::identity{}, options);
  }

 private:
  template <class I1, class I2, class O, class Comp, class Proj1, class Proj2>
  struct requirements {
    static_assert(order_requirements<Comp, projected_t<Proj1, I1>, projected_t<Proj2, I2>>::met);
    static_assert(std::indirectly_copyable<I1, O> && std::indirectly_copyable<I2, O>,
                  "merge copies elements to `out`: it must accept those of both inputs");
    static constexpr bool met = true;
  };

  template <class I1, class I2>
  struct inputs {
    I1 first1;
    I2 first2;
    position count1, count2;

    /// Returns how many of the first `d` elements of the output are of the first input, if there
    /// are between `least` and `most`. An order that is none gives a number within these bounds.
    template <class SecondBeforeFirst>
    position first_of(position d, position least, position most,
                      SecondBeforeFirst& second_before_first) const {
      position lo = std::max(least, d - std::min(d, count2));
      position hi = std::min({most, d, count1});
      while (lo < hi) {
        const position mid = lo + (hi - lo) / 2;
        if (second_before_first(*cursor_at(first2, d - mid - 1), *cursor_at(first1, mid))) {
          hi = mid;
        } else {
          lo = mid + 1;
        }
      }
      return lo;
    }
  };
};

}  // namespace detail

/// merge(first1, last1, first2, last2, out, comp = less, proj1 = {}, proj2 = {}, options = {})
/// copies the elements of two sorted sequences to `out`, sorted: stable, equal elements of the
/// first before those of the second. A range may stand for each pair of iterators; projections may
/// be left out before `options`. `out` has room for all elements and overlaps no input. Returns the
/// ends of the inputs and of the output, as std::ranges::merge does.
/// Threads, errors, stop: as parallel_for; after an exception or a stop parts of the output are
/// missing. Cost: 2 log2(n) comparisons per chunk more than a serial merge; chunks have
/// options.grain elements, by default 4096. No memory.
inline constexpr detail::merge_function merge{};

}  // namespace creek
