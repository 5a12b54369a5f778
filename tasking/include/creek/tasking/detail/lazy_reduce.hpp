// SPDX-License-Identifier: Apache-2.0
// The drivers under parallel_reduce: lazy_loop with a value carried along, and a fixed tree for
// results that repeat to the bit.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <creek/tasking/detail/lazy_loop.hpp>
#include <creek/tasking/detail/linear_range.hpp>
#include <creek/tasking/fork_join.hpp>

namespace creek::detail {

/// The map of a reduction that has none.
struct pass_through {
  template <class T>
  constexpr T&& operator()(T&& value) const noexcept {
    return std::forward<T>(value);
  }
};

/// Folds map(x) for x in [lo, hi) into `value`, in order, one after another.
template <loop_cursor I, class T, class Map, class Combine>
T fold_in_order(I lo, I hi, T value, Map& map, Combine& combine) {
  for_each_cursor(lo, hi, [&](auto&& x) {
    value = combine(std::move(value), map(std::forward<decltype(x)>(x)));
  });
  return value;
}

/// Like fold_in_order. The compiler may not reorder floating-point additions, and one chain of
/// them takes four cycles per element, more than memory does; so long chunks are folded as four
/// contiguous quarters side by side. Quarters are joined in order: nothing needs to commute.
template <loop_cursor I, class T, class Map, class Combine>
T fold_cursors(I lo, I hi, T value, const T& identity, Map& map, Combine& combine) {
  if constexpr (std::floating_point<T>) {
    const position quarter = count_between(lo, hi) / 4;
    if (quarter >= 16) {
      T a = value, b = identity, c = identity, d = identity;
      const I b0 = cursor_at(lo, quarter), c0 = cursor_at(b0, quarter), d0 = cursor_at(c0, quarter);
      const auto at = [](I cursor) -> loop_argument_t<I> {
        if constexpr (loop_index<I>) {
          return cursor;
        } else {
          return *cursor;
        }
      };
      for (position k = 0; k < quarter; ++k) {
        a = combine(a, map(at(cursor_at(lo, k))));
        b = combine(b, map(at(cursor_at(b0, k))));
        c = combine(c, map(at(cursor_at(c0, k))));
        d = combine(d, map(at(cursor_at(d0, k))));
      }
      value = combine(combine(a, b), combine(c, d));
      lo = cursor_at(d0, quarter);
    }
  }
  return fold_in_order(lo, hi, std::move(value), map, combine);
}

/// One reduction: the data that all its tasks share. fold(lo, hi, value) works on positions.
template <class T, class Fold, class Combine>
class reduction {
 public:
  reduction(const T& identity, const Fold& fold, Combine& combine, const std::stop_token& stop)
      : identity_(identity), fold_(fold), combine_(combine), control_(stop) {}

  /// Like divide_loop, but combines the values of the pieces, in order.
  T divide(position lo, position hi, position parts, pace speed) {
    if (parts <= 1) return lazy(lo, hi, identity_, speed);
    const position lower = parts / 2;
    const position mid = lo + (hi - lo) / parts * lower;
    return join([&] { return divide(lo, mid, lower, speed); },
                [&] { return divide(mid, hi, parts - lower, speed); });
  }

  /// Reduces by the balanced tree over leaves [lo, hi) of `leaf` positions out of `count`. Adds the
  /// same in the same order whether it forks or, with one worker, does not.
  T fixed_tree(position lo, position hi, position leaf, position count, bool alone) {
    if (control_.ended()) return identity_;
    if (hi - lo == 1) {
      const position begin = lo * leaf;
      return fold(begin, begin + std::min(leaf, count - begin), identity_);
    }
    const position mid = lo + (hi - lo) / 2;
    if (alone) {
      T left = fixed_tree(lo, mid, leaf, count, alone);
      return combine_(std::move(left), fixed_tree(mid, hi, leaf, count, alone));
    }
    return join([&] { return fixed_tree(lo, mid, leaf, count, alone); },
                [&] { return fixed_tree(mid, hi, leaf, count, alone); });
  }

 private:
  // Like lazy_loop, but folds each stretch of chunks that no worker asked for into one value.
  T lazy(position lo, position hi, T value, pace speed) {
    while (lo < hi && !control_.ended()) {
      const position end = lo + std::min(speed.chunk(), hi - lo);
      const ticks started = speed.start();
      value = fold(lo, end, std::move(value));
      speed.finish(started);
      lo = end;
      if (hungry() && speed.worth_splitting(hi - lo)) {
        const position mid = lo + (hi - lo) / 2;
        return join([&] { return lazy(lo, mid, std::move(value), speed); },
                    [&] { return lazy(mid, hi, identity_, speed); });
      }
    }
    return value;
  }

  T fold(position lo, position hi, T value) {
    return control_.guard([&]() -> T { return fold_(lo, hi, std::move(value)); });
  }

  template <class Left, class Right>
  T join(Left&& left, Right&& right) {
    auto [a, b] = fork_join(left, right);
    // Captured by name: Clang before 16 captures no structured bindings by default.
    return control_.guard(
        [this, &one = a, &other = b]() -> T { return combine_(std::move(one), std::move(other)); });
  }

  const T& identity_;
  const Fold& fold_;
  Combine& combine_;
  loop_control control_;
};

/// Leaves of a deterministic reduction if the caller names no grain: enough for some hundred
/// workers, few enough that forks cost a microsecond in all.
inline constexpr position deterministic_leaves = 512;

/// Reduces positions [0, count). The only entry to the functions above.
template <class T, class Fold, class Combine>
T drive_reduce(position count, const T& identity, const Fold& fold, Combine& combine,
               const parallel_options& options) {
  if (count == 0) return identity;
  reduction<T, Fold, Combine> all(identity, fold, combine, options.stop);
  if (!options.deterministic) {
    return all.divide(0, count, first_pieces(count, options.grain), pace(options.grain));
  }
  const position leaf = options.grain != 0 ? options.grain : (count - 1) / deterministic_leaves + 1;
  return all.fixed_tree(0, (count - 1) / leaf + 1, leaf, count, worker_count() == 1);
}

}  // namespace creek::detail
