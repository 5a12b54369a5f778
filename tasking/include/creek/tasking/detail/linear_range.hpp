// SPDX-License-Identifier: Apache-2.0
// Integral indexes and random-access iterators seen as positions 0 .. count-1 of a linear range, so
// that one loop driver serves both. Positions are 64-bit unsigned: every range of every integer
// type fits, the full signed 64-bit one included, and splitting in half never overflows.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <creek/core/error.hpp>

namespace creek::detail {

using position = std::uint64_t;

/// A type that a loop may count with: an integer of at most 64 bits that is not bool.
template <class T>
concept loop_index =
    std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool> && sizeof(T) <= sizeof(position);

/// A type that a loop may run over: an index or a random-access iterator.
template <class T>
concept loop_cursor = loop_index<T> || std::random_access_iterator<T>;

/// Returns the number of elements of [first, last); 0 if last < first.
template <loop_cursor I>
constexpr position count_between(I first, I last) noexcept {
  if constexpr (loop_index<I>) {
    using unsigned_index = std::make_unsigned_t<I>;
    if (last <= first) return 0;
    return static_cast<unsigned_index>(static_cast<unsigned_index>(last) -
                                       static_cast<unsigned_index>(first));
  } else {
    return last - first <= 0 ? 0 : static_cast<position>(last - first);
  }
}

/// Returns the cursor `k` elements after `first`. Indexes advance modulo 2^N: INT64_MIN is fine.
template <loop_cursor I>
constexpr I cursor_at(I first, position k) noexcept(loop_index<I>) {
  if constexpr (loop_index<I>) {
    using unsigned_index = std::make_unsigned_t<I>;
    return static_cast<I>(static_cast<unsigned_index>(static_cast<unsigned_index>(first) +
                                                      static_cast<unsigned_index>(k)));
  } else {
    return first + static_cast<std::iter_difference_t<I>>(k);
  }
}

/// Returns the argument that a body receives for one cursor: the index itself, or the element.
template <loop_cursor I>
struct loop_argument {
  using type = std::iter_reference_t<I>;
};
template <loop_index I>
struct loop_argument<I> {
  using type = I;
};
template <loop_cursor I>
using loop_argument_t = typename loop_argument<I>::type;

/// Calls `step(i)` or `step(*it)` for each cursor of [lo, hi), in order. Nothing but the step is in
/// the loop and contiguous iterators become pointers, so the compiler may vectorise it.
template <loop_cursor I, class Step>
inline void for_each_cursor(I lo, I hi, Step&& step) {
  if constexpr (loop_index<I>) {
    for (I i = lo; i < hi; ++i) step(i);
  } else if constexpr (std::contiguous_iterator<I>) {
    auto* const end = std::to_address(hi);
    for (auto* p = std::to_address(lo); p != end; ++p) step(*p);
  } else {
    for (; lo != hi; ++lo) step(*lo);
  }
}

/// A callable small and plain enough to be copied into the frame of a chunk. The copy's address
/// escapes nowhere, so values captured by copy stay in registers: read through a reference they
/// would have to be loaded again after each store of the loop, which also keeps it from being
/// vectorised.
template <class F>
concept copied_into_chunk = std::is_trivially_copyable_v<F> && std::copy_constructible<F> &&
                            std::is_trivially_destructible_v<F> && sizeof(F) <= 64;

/// Calls use(callable), with a local copy where `copied_into_chunk` holds.
template <class F, class Use>
inline decltype(auto) with_local(F& callable, Use&& use) {
  if constexpr (copied_into_chunk<std::remove_const_t<F>>) {
    std::remove_const_t<F> local = callable;
    return use(local);
  } else {
    return use(callable);
  }
}

/// Brings the two ends of an index range to their common type.
/// Throws usage_error if that type cannot hold one of them, as for (-1, 5u).
template <loop_index I, loop_index J>
constexpr auto common_ends(I first, J last) {
  using common = std::common_type_t<I, J>;
  if (!std::in_range<common>(first) || !std::in_range<common>(last)) {
    throw usage_error(
        "loop bounds of different signedness: a negative bound has no value in the common type; "
        "give both ends the same signed type");
  }
  return std::pair<common, common>(static_cast<common>(first), static_cast<common>(last));
}

}  // namespace creek::detail
