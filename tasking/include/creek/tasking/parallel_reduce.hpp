// SPDX-License-Identifier: Apache-2.0
// Parallel reduction over integers, iterators and ranges with any associative operation.
#pragma once

#include <concepts>
#include <ranges>
#include <utility>

#include <creek/tasking/detail/lazy_reduce.hpp>
#include <creek/tasking/parallel_options.hpp>

namespace creek {

namespace detail {

/// A function of the caller, as opposed to the options that follow it.
template <class F>
concept operation = !std::convertible_to<F, const parallel_options&>;

template <class T, class Combine>
struct combine_requirements {
  static_assert(std::is_copy_constructible_v<T>,
                "a reduction or a scan copies its identity: the type must be copyable");
  static_assert(std::is_invocable_r_v<T, Combine&, T, T>,
                "combine(a, b) must accept two values of the identity's type and return one");
  static constexpr bool met = true;
};
template <class T, class Map, class Combine, class Argument>
struct map_and_combine_requirements : combine_requirements<T, Combine> {
  static_assert(std::is_invocable_v<Map&, Argument>,
                "parallel_reduce calls map(i) with an index, or map(element) with an element");
  static_assert(
      std::is_invocable_r_v<T, Combine&, T, std::invoke_result_t<Map&, Argument>>,
      "combine(a, b) must accept, as b, what map() returns, or an element if there is no map()");
};

}  // namespace detail

/// Reduces [first, last) by chunks: returns combine over the chunks, in the order of the range, of
/// fold(lo, hi, identity), which folds [lo, hi) into the value it is given and returns that.
/// `combine` must be associative (it need not commute) and combine(identity, x) == x: a worker's
/// chunks that follow one another are folded into one value without it, and an identity starts each
/// piece. Combination: left operands always stand before right ones. Where the range is cut depends
/// on which workers were idle, unless `options.deterministic`: then leaves of `grain` elements (0:
/// about 1/512 of the range) are combined by a fixed balanced tree, the same for any number of
/// workers. Threads: inside a runtime on its workers, outside in this thread. Returns when all
/// chunks ended. Errors: the first exception is rethrown, chunks that have not begun are left out.
/// After a requested stop the result covers only the chunks that were done. Cost without thieves:
/// one fork per worker, about 10 ns per chunk; deterministic: one fork per leaf.
template <detail::loop_cursor I, class T, class Fold, class Combine>
T parallel_reduce_range(I first, I last, T identity, Fold&& fold, Combine&& combine,
                        const parallel_options& options = {}) {
  static_assert(detail::combine_requirements<T, Combine>::met);
  static_assert(std::is_invocable_r_v<T, Fold&, I, I, T>,
                "parallel_reduce_range calls fold(lo, hi, value), which must return the new value");
  const auto fold_positions = [&](detail::position lo, detail::position hi, T value) -> T {
    return fold(detail::cursor_at(first, lo), detail::cursor_at(first, hi), std::move(value));
  };
  return detail::drive_reduce(detail::count_between(first, last), identity, fold_positions, combine,
                              options);
}

/// Combines map(x) for all x of [first, last), where x is an integer or an iterator's element:
/// sum of squares = parallel_reduce(0, n, 0.0, [=](long i) { return a[i] * a[i]; }, std::plus{}).
/// The result has the type of `identity`: write 0.0, not 0, to add doubles.
/// Floating-point chunks are folded in four interleaved streams, one per quarter of the chunk; the
/// order of combination and its determinism are as for parallel_reduce_range, and so are threads
/// and errors.
template <detail::loop_cursor I, class T, class Map, detail::operation Combine>
T parallel_reduce(I first, I last, T identity, Map&& map, Combine&& combine,
                  const parallel_options& options = {}) {
  static_assert(
      detail::map_and_combine_requirements<T, Map, Combine, detail::loop_argument_t<I>>::met);
  const auto fold = [&](I lo, I hi, T value) -> T {
    return detail::with_local(map, [&](auto& local_map) {
      return detail::with_local(combine, [&](auto& local_combine) {
        return detail::fold_cursors(lo, hi, std::move(value), identity, local_map, local_combine);
      });
    });
  };
  return parallel_reduce_range(first, last, identity, fold, combine, options);
}

/// Combines the elements (or integers) of [first, last) themselves.
template <detail::loop_cursor I, class T, class Combine>
T parallel_reduce(I first, I last, T identity, Combine&& combine,
                  const parallel_options& options = {}) {
  return parallel_reduce(first, last, std::move(identity), detail::pass_through{}, combine,
                         options);
}

/// Combines map(element) over a range.
template <std::ranges::random_access_range Range, class T, class Map, detail::operation Combine>
requires std::ranges::sized_range<Range> T parallel_reduce(Range&& range, T identity, Map&& map,
                                                           Combine&& combine,
                                                           const parallel_options& options = {}) {
  const auto first = std::ranges::begin(range);
  return parallel_reduce(first, first + std::ranges::ssize(range), std::move(identity), map,
                         combine, options);
}

/// Combines the elements of a range.
template <std::ranges::random_access_range Range, class T, class Combine>
requires std::ranges::sized_range<Range> T parallel_reduce(Range&& range, T identity,
                                                           Combine&& combine,
                                                           const parallel_options& options = {}) {
  return parallel_reduce(range, std::move(identity), detail::pass_through{}, combine, options);
}

}  // namespace creek
