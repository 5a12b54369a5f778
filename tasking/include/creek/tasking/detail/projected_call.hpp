// SPDX-License-Identifier: Apache-2.0
// Parts that the algorithms with the standard library's names share: a function behind a
// projection, the calls of an algorithm that takes both, and results of temporary ranges.
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

#include <creek/tasking/detail/linear_range.hpp>
#include <creek/tasking/parallel_options.hpp>
#include <creek/tasking/parallel_reduce.hpp>

namespace creek::detail {

/// The callable itself if it is `copied_into_chunk`, else a reference to it.
template <class F>
using held_in_chunk = std::conditional_t<copied_into_chunk<F>, F, F&>;

/// Calls f(proj(x)).
template <class F, class Proj>
struct projected_call {
  held_in_chunk<F> f;
  held_in_chunk<Proj> proj;

  template <class T>
  constexpr decltype(auto) operator()(T&& x) {
    return std::invoke(f, std::invoke(proj, std::forward<T>(x)));
  }
};

/// Calls f(proj1(x), proj2(y)).
template <class F, class Proj1, class Proj2>
struct projected_pair_call {
  held_in_chunk<F> f;
  held_in_chunk<Proj1> proj1;
  held_in_chunk<Proj2> proj2;

  template <class T, class U>
  constexpr decltype(auto) operator()(T&& x, U&& y) {
    return std::invoke(f, std::invoke(proj1, std::forward<T>(x)),
                       std::invoke(proj2, std::forward<U>(y)));
  }
};

template <class Proj, class I>
struct projection_requirements {
  static_assert(std::invocable<Proj&, std::iter_reference_t<I>>,
                "a projection is called with an element: it must accept one");
  using type = std::invoke_result_t<Proj&, std::iter_reference_t<I>>;
};
/// Type that a projection returns for an element.
template <class Proj, class I>
using projected_t = typename projection_requirements<Proj, I>::type;

template <class F, class... Arguments>
struct predicate_requirements {
  static_assert(std::predicate<F&, Arguments...>,
                "the predicate must accept what the projection returns for an element, or an "
                "element if there is no projection, and return bool");
  static constexpr bool met = true;
};

template <class Comp, class A, class B>
struct order_requirements {
  static_assert(std::predicate<Comp&, A, B> && std::predicate<Comp&, B, A>,
                "comp(a, b) must accept two elements, or what their projections return, in either "
                "order, and return bool");
  static constexpr bool met = true;
};

/// A range that the algorithms take.
template <class R>
concept parallel_range = std::ranges::random_access_range<R> && std::ranges::sized_range<R>;

template <parallel_range R>
constexpr std::ranges::iterator_t<R> end_of(R& range) {
  return std::ranges::begin(range) + std::ranges::ssize(range);
}

/// The calls of an algorithm over one range with a function and a projection, which
/// Algorithm::run(first, last, f, proj, options) executes.
template <class Algorithm>
struct projecting_algorithm {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S, operation F,
            operation Proj = std::identity>
  auto operator()(I first, S last, F f, Proj proj = {},
                  const parallel_options& options = {}) const {
    return Algorithm::run(first, first + (last - first), f, proj, options);
  }
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S, operation F>
  auto operator()(I first, S last, F f, const parallel_options& options) const {
    return (*this)(first, last, std::move(f), std::identity{}, options);
  }
  template <parallel_range R, operation F, operation Proj = std::identity>
  auto operator()(R&& range, F f, Proj proj = {}, const parallel_options& options = {}) const {
    auto result = Algorithm::run(std::ranges::begin(range), end_of(range), f, proj, options);
    if constexpr (std::same_as<decltype(result), std::ranges::iterator_t<R>>) {
      return std::ranges::borrowed_iterator_t<R>(result);
    } else {
      return result;
    }
  }
  template <parallel_range R, operation F>
  auto operator()(R&& range, F f, const parallel_options& options) const {
    return (*this)(std::forward<R>(range), std::move(f), std::identity{}, options);
  }
};

}  // namespace creek::detail
