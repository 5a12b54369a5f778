// SPDX-License-Identifier: Apache-2.0
// Byte forms of keys and values: how pairs are sent between cores that share no memory.
#pragma once

#include <bit>
#include <concepts>
#include <creek/core/messages/message_value.hpp>
#include <creek/mapreduce/detail/key_views.hpp>
#include <creek/tasking/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace creek::mapreduce {

/// Byte form of objects of type T. Forms exist for types whose bytes are their whole value
/// (numbers, enums, plain structs), strings and views of them, pairs, tuples, variants, arrays, and
/// containers of these; specialise it for other types:
///
///     template <> struct creek::mapreduce::wire<my_type> {
///       static void put(std::vector<std::byte>& to, const my_type& object);   // appends
///       static my_type get(const std::byte*& at);                             // advances `at`
///     };
///
/// A string_view that is read points into the bytes it was read from, which must stay valid. A
/// plain struct with a pointer or a view is not recognised as such: it needs its own form.
template <class T>
struct wire;

/// Type that can be sent from core to core.
template <class T>
concept sendable = requires(std::vector<std::byte>& to, const T& object, const std::byte*& at) {
  wire<T>::put(to, object);
  { wire<T>::get(at) } -> std::same_as<T>;
};

namespace detail {

template <class T>
concept string_like = std::same_as<T, std::string> || std::same_as<T, std::string_view>;

template <class T>
concept sent_by_parts = tuple_like<T>;

template <class T>
concept sent_by_elements = std::ranges::sized_range<const T> && !string_like<T> && !tuple_like<T> &&
                           !std::ranges::view<T> && std::default_initializable<T> &&
                           requires(T & container, typename T::value_type element) {
  container.insert(container.end(), std::move(element));
};

template <class T>
concept sent_as_it_lies =
    message_value<T> && !tuple_like<T> && !variant_like<T> && !std::ranges::range<T>;

inline void put_bytes(std::vector<std::byte>& to, const void* from, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(from);
  to.insert(to.end(), bytes, bytes + size);
}

template <class T>
[[nodiscard]] T get_bytes(const std::byte*& at) {
  struct raw {
    std::byte bytes[sizeof(T)];
  };
  raw copy;
  std::memcpy(&copy, at, sizeof(T));
  at += sizeof(T);
  return std::bit_cast<T>(copy);
}

/// Lengths are sent as 32 bits.
inline void put_length(std::vector<std::byte>& to, std::size_t length) {
  if (length > std::numeric_limits<std::uint32_t>::max()) {
    throw std::length_error("mapreduce: a key or value of " + std::to_string(length) +
                            " bytes or elements is too long to be sent");
  }
  const auto short_length = static_cast<std::uint32_t>(length);
  put_bytes(to, &short_length, sizeof short_length);
}
[[nodiscard]] inline std::size_t get_length(const std::byte*& at) {
  return get_bytes<std::uint32_t>(at);
}

}  // namespace detail

template <detail::sent_as_it_lies T>
struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& object) {
    detail::put_bytes(to, &object, sizeof object);
  }
  static T get(const std::byte*& at) { return detail::get_bytes<T>(at); }
};

template <detail::string_like T>
struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& text) {
    detail::put_length(to, text.size());
    detail::put_bytes(to, text.data(), text.size());
  }
  static T get(const std::byte*& at) {
    const std::size_t size = detail::get_length(at);
    const auto* text = reinterpret_cast<const char*>(at);
    at += size;
    return T(text, size);
  }
};

namespace detail {

template <class T, std::size_t... I>
constexpr bool parts_sendable(std::index_sequence<I...>) {
  return (sendable<std::remove_cv_t<std::tuple_element_t<I, T>>> && ...);
}

}  // namespace detail

template <detail::sent_by_parts T>
requires(
    detail::parts_sendable<T>(std::make_index_sequence<std::tuple_size_v<T>>{})) struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& object) {
    std::apply(
        [&](const auto&... parts) { (wire<std::decay_t<decltype(parts)>>::put(to, parts), ...); },
        object);
  }
  static T get(const std::byte*& at) {
    return get(at, std::make_index_sequence<std::tuple_size_v<T>>{});
  }

 private:
  // Braces: they evaluate the parts from left to right.
  template <std::size_t... I>
  static T get(const std::byte*& at, std::index_sequence<I...>) {
    return T{wire<std::remove_cv_t<std::tuple_element_t<I, T>>>::get(at)...};
  }
};

/// The number of the alternative, then its value.
template <class... Types>
requires(sendable<Types>&&...) struct wire<std::variant<Types...>> {
  static void put(std::vector<std::byte>& to, const std::variant<Types...>& object) {
    detail::put_length(to, object.index());
    std::visit([&](const auto& one) { wire<std::decay_t<decltype(one)>>::put(to, one); }, object);
  }
  static std::variant<Types...> get(const std::byte*& at) {
    return get(at, std::index_sequence_for<Types...>{});
  }

 private:
  template <std::size_t... I>
  static std::variant<Types...> get(const std::byte*& at, std::index_sequence<I...>) {
    using reader = std::variant<Types...> (*)(const std::byte*&);
    constexpr reader readers[] = {[](const std::byte*& from) {
      return std::variant<Types...>(std::in_place_index<I>, wire<Types>::get(from));
    }...};
    return readers[detail::get_length(at)](at);
  }
};

template <detail::sent_by_elements T>
requires sendable<typename T::value_type>
struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& all) {
    detail::put_length(to, all.size());
    for (const auto& element : all) wire<typename T::value_type>::put(to, element);
  }
  static T get(const std::byte*& at) {
    T all;
    for (std::size_t left = detail::get_length(at); left > 0; --left) {
      all.insert(all.end(), wire<typename T::value_type>::get(at));
    }
    return all;
  }
};

}  // namespace creek::mapreduce
