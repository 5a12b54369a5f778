// SPDX-License-Identifier: Apache-2.0
// transform_reduce in parallel, of one range and of two, by the standard library's name.
#pragma once

#include <algorithm>
#include <optional>

#include <creek/tasking/detail/projected_call.hpp>
#include <creek/tasking/parallel_reduce.hpp>

namespace creek {

namespace detail {

struct transform_reduce_function {
  template <std::random_access_iterator I, std::sized_sentinel_for<I> S, operation T,
            operation Reduce, operation Transform>
  T operator()(I first, S last, T init, Reduce reduce, Transform transform,
               const parallel_options& options = {}) const {
    static_assert(requirements<T, Reduce, Transform, std::iter_reference_t<I>>::met);
    const auto value_at = [&](Transform& call, position k) -> T {
      return std::invoke(call, *cursor_at(first, k));
    };
    return run(static_cast<position>(last - first), std::move(init), reduce, transform, value_at,
               options);
  }
  template <parallel_range R, operation T, operation Reduce, operation Transform>
  T operator()(R&& range, T init, Reduce reduce, Transform transform,
               const parallel_options& options = {}) const {
    return (*this)(std::ranges::begin(range), end_of(range), std::move(init), std::move(reduce),
                   std::move(transform), options);
  }

  template <std::random_access_iterator I1, std::sized_sentinel_for<I1> S1,
            std::random_access_iterator I2, operation T, operation Reduce = std::plus<>,
            operation Transform = std::multiplies<>>
  T operator()(I1 first1, S1 last1, I2 first2, T init, Reduce reduce = {}, Transform transform = {},
               const parallel_options& options = {}) const {
    static_assert(requirements<T, Reduce, Transform, std::iter_reference_t<I1>,
                               std::iter_reference_t<I2>>::met);
    const auto value_at = [&](Transform& call, position k) -> T {
      return std::invoke(call, *cursor_at(first1, k), *cursor_at(first2, k));
    };
    return run(static_cast<position>(last1 - first1), std::move(init), reduce, transform, value_at,
               options);
  }
  template <std::random_access_iterator I1, std::sized_sentinel_for<I1> S1,
            std::random_access_iterator I2, operation T>
  T operator()(I1 first1, S1 last1, I2 first2, T init, const parallel_options& options) const {
    return (*this)(first1, last1, first2, std::move(init), std::plus<>{}, std::multiplies<>{},
                   options);
  }
  // A third argument that reduces values of the second is no init: the second is, as a string.
  template <parallel_range R1, parallel_range R2, operation T, operation Reduce = std::plus<>,
            operation Transform = std::multiplies<>>
  requires(!std::invocable<T&, R2, R2>) T operator()(R1&& range1, R2&& range2, T init,
                                                     Reduce reduce = {}, Transform transform = {},
                                                     const parallel_options& options = {}) const {
    const auto count = std::min<position>(std::ranges::size(range1), std::ranges::size(range2));
    const auto first = std::ranges::begin(range1);
    return (*this)(first, cursor_at(first, count), std::ranges::begin(range2), std::move(init),
                   std::move(reduce), std::move(transform), options);
  }
  template <parallel_range R1, parallel_range R2, operation T>
  T operator()(R1&& range1, R2&& range2, T init, const parallel_options& options) const {
    return (*this)(range1, range2, std::move(init), std::plus<>{}, std::multiplies<>{}, options);
  }

 private:
  template <class T, class Reduce, class Transform, class... Elements>
  struct requirements : combine_requirements<T, Reduce> {
    static_assert(std::is_invocable_r_v<T, Transform&, Elements...>,
                  "transform_reduce: transform(element), or transform(a, b) for two ranges, must "
                  "return what converts to init's type");
  };

  /// Reduces value_at(transform, k) for k in [0, count). `init` is no identity of `reduce`, so
  /// pieces have none: each begins with its first value.
  template <class T, class Reduce, class Transform, class ValueAt>
  static T run(position count, T init, Reduce& reduce, Transform& transform,
               const ValueAt& value_at, const parallel_options& options) {
    if (count == 0) return init;
    using part = std::optional<T>;
    const auto fold = [&](position lo, position hi, part before) -> part {
      return with_local(transform, [&](auto& local_transform) {
        return with_local(reduce, [&](auto& local_reduce) -> part {
          const auto value = [&](position k) -> T { return value_at(local_transform, k); };
          T chunk = fold_values(lo, hi, value, local_reduce);
          return before ? local_reduce(std::move(*before), std::move(chunk)) : std::move(chunk);
        });
      });
    };
    const auto combine = [&](part a, part b) -> part {
      if (!a || !b) return a ? std::move(a) : std::move(b);
      return reduce(std::move(*a), std::move(*b));
    };
    part all = drive_reduce(count, part(), fold, combine, options);
    return all ? T(reduce(std::move(init), std::move(*all))) : std::move(init);
  }

  /// Folds value(k) for k in [lo, hi), at least one, as fold_cursors does: floating-point numbers
  /// in four chains.
  template <class Value, class Reduce>
  static auto fold_values(position lo, position hi, const Value& value, Reduce& reduce) {
    auto all = value(lo);
    using T = decltype(all);
    position k = lo + 1;
    if constexpr (std::floating_point<T>) {
      const position quarter = (hi - lo) / 4;
      if (quarter >= 16) {
        T b = value(lo + quarter), c = value(lo + 2 * quarter), d = value(lo + 3 * quarter);
        for (; k < lo + quarter; ++k) {
          all = reduce(all, value(k));
          b = reduce(b, value(k + quarter));
          c = reduce(c, value(k + 2 * quarter));
          d = reduce(d, value(k + 3 * quarter));
        }
        all = reduce(reduce(all, b), reduce(c, d));
        k = lo + 4 * quarter;
      }
    }
    for (; k < hi; ++k) all = reduce(std::move(all), value(k));
    return all;
  }
};

}  // namespace detail

/// transform_reduce(first, last, init, reduce, transform, options = {}) returns the elements'
/// transform(x) and `init` combined by `reduce`; transform_reduce(first1, last1, first2, init,
/// reduce = std::plus<>(), transform = std::multiplies<>(), options = {}) does so for transform(a,
/// b) of two sequences, by default their inner product. A range may stand for each pair of
/// iterators; of two ranges the shorter one counts. `init` is combined once, as the left operand;
/// it need not be an identity, which parallel_reduce requires. `reduce` must be associative; it
/// need not commute. The result has init's type: write 0.0, not 0, to add doubles. Determinism,
/// threads, chunks, errors, stop, cost: as parallel_reduce.
inline constexpr detail::transform_reduce_function transform_reduce{};

}  // namespace creek
