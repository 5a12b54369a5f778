// SPDX-License-Identifier: Apache-2.0
// Views in a key: the key itself if it is a string_view, or those among the parts of a pair or a
// tuple, or the alternatives of a variant.
#pragma once

#include <concepts>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace creek::mapreduce::detail {

template <class T>
concept variant_like = requires {
  std::variant_size<T>::value;
};

template <class T>
constexpr bool holds_views() {
  if constexpr (tuple_like<T>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (holds_views<std::remove_cv_t<std::tuple_element_t<I, T>>>() || ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (variant_like<T>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (holds_views<std::variant_alternative_t<I, T>>() || ...);
    }
    (std::make_index_sequence<std::variant_size_v<T>>{});
  } else {
    return std::same_as<T, std::string_view>;
  }
}

/// Calls `f` for each view in the key, a reference to std::string_view or const std::string_view.
template <class T, class F>
void for_each_view(T& key, F&& f) {
  if constexpr (std::same_as<std::remove_const_t<T>, std::string_view>) {
    f(key);
  } else if constexpr (!holds_views<std::remove_const_t<T>>()) {
    return;
  } else if constexpr (variant_like<std::remove_const_t<T>>) {
    std::visit([&](auto& one) { for_each_view(one, f); }, key);
  } else {
    std::apply([&](auto&... parts) { (for_each_view(parts, f), ...); }, key);
  }
}

}  // namespace creek::mapreduce::detail
