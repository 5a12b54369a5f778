// SPDX-License-Identifier: Apache-2.0
// Decides which sorts of which elements go to the vectorised sort of src/key_sort.cpp.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>

#include <creek/core/language.hpp>

namespace creek::detail {

/// Representation of a key; `none` for everything that is sorted by comparisons.
enum class key_kind { none, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

template <class T>
consteval key_kind key_kind_of() {
  constexpr bool is_signed = std::is_signed_v<T>;
  if constexpr (std::same_as<T, float>) {
    return key_kind::f32;
  } else if constexpr (std::same_as<T, double>) {
    return key_kind::f64;
  } else if constexpr (!std::integral<T> || std::same_as<T, bool>) {
    return key_kind::none;
  } else if constexpr (sizeof(T) == 1) {
    return is_signed ? key_kind::i8 : key_kind::u8;
  } else if constexpr (sizeof(T) == 2) {
    return is_signed ? key_kind::i16 : key_kind::u16;
  } else if constexpr (sizeof(T) == 4) {
    return is_signed ? key_kind::i32 : key_kind::u32;
  } else if constexpr (sizeof(T) == 8) {
    return is_signed ? key_kind::i64 : key_kind::u64;
  } else {
    return key_kind::none;
  }
}

template <class Compare, class T>
inline constexpr bool is_ascending =
    std::same_as<Compare, std::less<T>> || std::same_as<Compare, std::less<>> ||
    std::same_as<Compare, std::ranges::less>;
template <class Compare, class T>
inline constexpr bool is_descending =
    std::same_as<Compare, std::greater<T>> || std::same_as<Compare, std::greater<>> ||
    std::same_as<Compare, std::ranges::greater>;

/// Arithmetic keys, contiguous in memory, in one of the orders above.
template <class It, class Compare>
concept key_sortable = std::contiguous_iterator<It> && key_kind_of<std::iter_value_t<It>>()
!= key_kind::none &&
    (is_ascending<Compare, std::iter_value_t<It>> || is_descending<Compare, std::iter_value_t<It>>);

/// Keys of which equal ones cannot be told apart, so that every sort of them is stable. (-0.0 and
/// 0.0 can be told apart, so floating-point numbers are not among them.)
template <class It, class Compare>
concept stably_key_sortable = key_sortable<It, Compare> && std::integral<std::iter_value_t<It>>;

/// Sorts `count` keys in place. Inside a runtime on its workers, outside in this thread.
/// NaNs end up last in either order; -0.0 and 0.0 are neighbours in either order, every key keeps
/// its bits. Vector instructions are chosen at run time. Throws only what fork_join throws; the
/// keys are then some permutation of the given ones.
void sort_keys(void* keys, std::size_t count, key_kind kind, bool descending);

}  // namespace creek::detail
