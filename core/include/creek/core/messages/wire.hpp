// SPDX-License-Identifier: Apache-2.0
// Byte forms of values: how keys, values, arguments and results go between cores, ranks and files.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <creek/core/messages/message_value.hpp>

namespace creek {

/// Byte form of objects of type T. Forms exist for types whose bytes are their whole value
/// (numbers, enums, plain structs), strings and views of them, pairs, tuples, optionals, variants,
/// arrays, containers of these, and types with a function `serialize`, a member or a friend, in the
/// form that cereal and Boost.Serialization use:
///
///     template <class Archive>
///     void serialize(Archive& archive, my_type& object) { archive(object.name, object.sizes); }
///
/// Specialise it for others:
///
///     template <> struct creek::wire<my_type> {
///       static void put(std::vector<std::byte>& to, const my_type& object);      // appends
///       template <class Cursor> static my_type get(Cursor& at);                  // advances `at`
///     };
///
/// A cursor is a byte_reader, or a `const std::byte*` in bytes that this process has written. A
/// string_view that is read points into the bytes it was read from, which must stay valid. A plain
/// struct with a pointer or a view is not recognised as such: it needs its own form.
template <class T>
struct wire;

/// Bytes that another process has sent. Reading more than there are throws creek::error (EBADMSG).
class byte_reader {
 public:
  explicit byte_reader(std::span<const std::byte> bytes) noexcept : left_(bytes) {}
  [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }
  /// Returns the address of the next `bytes` bytes and goes past them.
  const std::byte* take(std::size_t bytes) {
    if (bytes > left_.size()) [[unlikely]]
      throw_too_short(bytes);
    const std::byte* const at = left_.data();
    left_ = left_.subspan(bytes);
    return at;
  }

 private:
  [[noreturn]] void throw_too_short(std::size_t wanted) const;

  std::span<const std::byte> left_;
};

/// A type that can be read from bytes that this process has written.
template <class T, class Cursor>
concept readable_from = requires(Cursor& at) {
  { wire<T>::get(at) } -> std::same_as<T>;
};
/// Type that can be sent from core to core.
template <class T>
concept sendable = readable_from<T, const std::byte*> &&
    requires(std::vector<std::byte>& to, const T& object) {
  wire<T>::put(to, object);
};

/// The archive that a `serialize` function gets to write an object.
class wire_output {
 public:
  using is_saving = std::true_type;
  using is_loading = std::false_type;

  explicit wire_output(std::vector<std::byte>& to) noexcept : to_(&to) {}
  template <class... T>
  wire_output& operator()(const T&... parts) {
    (wire<T>::put(*to_, parts), ...);
    return *this;
  }
  template <class T>
  wire_output& operator&(const T& part) {
    return (*this)(part);
  }

 private:
  std::vector<std::byte>* to_;
};

/// The archive that a `serialize` function gets to read an object.
template <class Cursor>
class wire_input {
 public:
  using is_saving = std::false_type;
  using is_loading = std::true_type;

  explicit wire_input(Cursor& at) noexcept : at_(&at) {}
  template <class... T>
  wire_input& operator()(T&... parts) {
    ((parts = wire<T>::get(*at_)), ...);
    return *this;
  }
  template <class T>
  wire_input& operator&(T& part) {
    return (*this)(part);
  }

 private:
  Cursor* at_;
};

namespace detail {

[[noreturn]] void throw_too_many_to_send(std::size_t count);
[[noreturn]] void throw_no_alternative(std::size_t index);

// The `serialize` functions of cereal, and of Boost, which passes a version, too.
template <class T, class Archive>
concept serialized_by_member = requires(T& object, Archive& archive) {
  object.serialize(archive);
};
template <class T, class Archive>
concept serialized_by_versioned_member = requires(T& object, Archive& archive) {
  object.serialize(archive, 0u);
};
template <class T, class Archive>
concept serialized_by_function = requires(T& object, Archive& archive) {
  serialize(archive, object);
};
template <class T, class Archive>
concept serialized_by_versioned_function = requires(T& object, Archive& archive) {
  serialize(archive, object, 0u);
};
template <class T>
concept serialized = std::is_class_v<T> &&
    (serialized_by_member<T, wire_output> || serialized_by_versioned_member<T, wire_output> ||
     serialized_by_function<T, wire_output> || serialized_by_versioned_function<T, wire_output>);

template <class Archive, class T>
void call_serialize(Archive& archive, T& object) {
  if constexpr (serialized_by_member<T, Archive>) {
    object.serialize(archive);
  } else if constexpr (serialized_by_versioned_member<T, Archive>) {
    object.serialize(archive, 0u);
  } else if constexpr (serialized_by_function<T, Archive>) {
    serialize(archive, object);
  } else {
    serialize(archive, object, 0u);
  }
}

template <class T>
concept string_like = std::same_as<T, std::string> || std::same_as<T, std::string_view>;

template <class T>
concept has_tuple_size = requires {
  std::tuple_size<T>::value;
};
template <class T>
concept has_variant_size = requires {
  std::variant_size<T>::value;
};
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
concept sent_by_parts = has_tuple_size<T> && !serialized<T>;

template <class T>
concept sent_by_elements =
    std::ranges::sized_range<const T> && !string_like<T> && !has_tuple_size<T> && !serialized<T> &&
    !std::ranges::view<T> && std::default_initializable<T> &&
    requires(T & container, typename T::value_type element) {
  container.insert(container.end(), std::move(element));
};

template <class T>
concept sent_as_it_lies = message_value<T> && !has_tuple_size<T> && !has_variant_size<T> &&
                          !is_optional<T> && !std::ranges::range<T> && !serialized<T>;

/// Elements that can be copied all at once. A byte of a bool is checked instead.
template <class T>
concept sent_in_blocks = sent_as_it_lies<T> && !std::same_as<T, bool>;

inline const std::byte* take_bytes(const std::byte*& at, std::size_t bytes) {
  const std::byte* const here = at;
  at += bytes;
  return here;
}
inline const std::byte* take_bytes(byte_reader& at, std::size_t bytes) {
  return at.take(bytes);
}

/// Maximum bytes that are copied at once. From about twice as many on, glibc copies by `rep movsb`,
/// which AMD's Zen 3 does at 2 GB/s instead of 40 if the destination is up to 63 bytes after the
/// source, modulo the size of a page (measured; glibc's bug 30994).
inline constexpr std::size_t copied_at_once = 2048;

/// Appends elements that are copied by their bytes.
template <class Container, class T>
void append_in_pieces(Container& to, const T* from, std::size_t count) {
  constexpr std::size_t piece = std::max<std::size_t>(1, copied_at_once / sizeof(T));
  if constexpr (requires { to.reserve(count); }) {
    const std::size_t needed = to.size() + count;
    if (needed > to.capacity()) to.reserve(std::max(needed, 2 * to.capacity()));
  }
  for (const T* const end = from + count; from != end;) {
    const T* const next = from + std::min(piece, static_cast<std::size_t>(end - from));
    to.insert(to.end(), from, next);
    from = next;
  }
}

inline void put_bytes(std::vector<std::byte>& to, const void* from, std::size_t size) {
  const auto* bytes = static_cast<const std::byte*>(from);
  if (size > copied_at_once) return append_in_pieces(to, bytes, size);
  to.insert(to.end(), bytes, bytes + size);
}

template <class T, class Cursor>
[[nodiscard]] T get_bytes(Cursor& at) {
  if constexpr (std::same_as<T, bool>) {
    return *take_bytes(at, 1) != std::byte{0};
  } else {
    struct raw {
      std::byte bytes[sizeof(T)];
    };
    raw copy;
    std::memcpy(&copy, take_bytes(at, sizeof(T)), sizeof(T));
    return std::bit_cast<T>(copy);
  }
}

/// Lengths are sent as 32 bits.
inline void put_length(std::vector<std::byte>& to, std::size_t length) {
  if (length > std::numeric_limits<std::uint32_t>::max()) throw_too_many_to_send(length);
  const auto short_length = static_cast<std::uint32_t>(length);
  put_bytes(to, &short_length, sizeof short_length);
}
template <class Cursor>
[[nodiscard]] std::size_t get_length(Cursor& at) {
  return get_bytes<std::uint32_t>(at);
}

}  // namespace detail

template <detail::sent_as_it_lies T>
struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& object) {
    detail::put_bytes(to, &object, sizeof object);
  }
  template <class Cursor>
  static T get(Cursor& at) {
    return detail::get_bytes<T>(at);
  }
};

template <detail::serialized T>
struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& object) {
    wire_output archive(to);
    detail::call_serialize(archive, const_cast<T&>(object));  // which only reads it
  }
  template <class Cursor>
  static T get(Cursor& at) {
    static_assert(std::default_initializable<T>,
                  "wire: a type with a function serialize is made without arguments first");
    T object{};
    wire_input<Cursor> archive(at);
    detail::call_serialize(archive, object);
    return object;
  }
};

template <detail::string_like T>
struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& text) {
    detail::put_length(to, text.size());
    detail::put_bytes(to, text.data(), text.size());
  }
  template <class Cursor>
  static T get(Cursor& at) {
    const std::size_t size = detail::get_length(at);
    return T(reinterpret_cast<const char*>(detail::take_bytes(at, size)), size);
  }
};

namespace detail {

template <class T, class Parts = std::make_index_sequence<std::tuple_size_v<T>>>
inline constexpr bool parts_sendable = false;
template <class T, std::size_t... I>
inline constexpr bool parts_sendable<T, std::index_sequence<I...>> =
    (sendable<std::remove_cv_t<std::tuple_element_t<I, T>>> && ...);

}  // namespace detail

template <detail::sent_by_parts T>
requires(detail::parts_sendable<T>) struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& object) {
    if constexpr (is_block) {
      detail::put_bytes(to, object.data(), sizeof object);
    } else {
      std::apply(
          [&](const auto&... parts) { (wire<std::decay_t<decltype(parts)>>::put(to, parts), ...); },
          object);
    }
  }
  template <class Cursor>
  static T get(Cursor& at) {
    if constexpr (is_block) {
      T object;
      std::memcpy(object.data(), detail::take_bytes(at, sizeof object), sizeof object);
      return object;
    } else {
      return get(at, std::make_index_sequence<std::tuple_size_v<T>>{});
    }
  }

 private:
  static constexpr bool is_block = [] {
    if constexpr (std::ranges::contiguous_range<T> && std::tuple_size_v<T> != 0) {
      return detail::sent_in_blocks<std::ranges::range_value_t<T>> &&
             std::is_trivially_default_constructible_v<T>;
    }
    return false;
  }();

  // Braces: they evaluate the parts from left to right.
  template <class Cursor, std::size_t... I>
  static T get(Cursor& at, std::index_sequence<I...>) {
    return T{wire<std::remove_cv_t<std::tuple_element_t<I, T>>>::get(at)...};
  }
};

/// Whether there is a value, then the value.
template <sendable T>
struct wire<std::optional<T>> {
  static void put(std::vector<std::byte>& to, const std::optional<T>& object) {
    wire<bool>::put(to, object.has_value());
    if (object) wire<T>::put(to, *object);
  }
  template <class Cursor>
  static std::optional<T> get(Cursor& at) {
    if (!wire<bool>::get(at)) return std::nullopt;
    return wire<T>::get(at);
  }
};

/// The number of the alternative, then its value.
template <class... Types>
requires(sendable<Types>&&...) struct wire<std::variant<Types...>> {
  static void put(std::vector<std::byte>& to, const std::variant<Types...>& object) {
    detail::put_length(to, object.index());
    std::visit([&](const auto& one) { wire<std::decay_t<decltype(one)>>::put(to, one); }, object);
  }
  template <class Cursor>
  static std::variant<Types...> get(Cursor& at) {
    return get(at, std::index_sequence_for<Types...>{});
  }

 private:
  template <class Cursor, std::size_t... I>
  static std::variant<Types...> get(Cursor& at, std::index_sequence<I...>) {
    using reader = std::variant<Types...> (*)(Cursor&);
    constexpr reader readers[] = {[](Cursor& from) {
      return std::variant<Types...>(std::in_place_index<I>, wire<Types>::get(from));
    }...};
    const std::size_t index = detail::get_length(at);
    if (index >= sizeof...(Types)) detail::throw_no_alternative(index);
    return readers[index](at);
  }
};

template <detail::sent_by_elements T>
requires sendable<typename T::value_type>
struct wire<T> {
  static void put(std::vector<std::byte>& to, const T& all) {
    detail::put_length(to, all.size());
    if constexpr (is_block) {
      detail::put_bytes(to, std::ranges::data(all), all.size() * sizeof(element));
    } else {
      for (const auto& each : all) wire<element>::put(to, each);
    }
  }
  template <class Cursor>
  static T get(Cursor& at) {
    const std::size_t count = detail::get_length(at);
    if constexpr (is_block) {
      const std::byte* const from = detail::take_bytes(at, count * sizeof(element));
      if (reinterpret_cast<std::uintptr_t>(from) % alignof(element) == 0) {
        const auto* const first = reinterpret_cast<const element*>(from);
        if constexpr (requires(T all) { all.insert(all.end(), first, first); }) {
          if (count * sizeof(element) > detail::copied_at_once) {
            T all;
            detail::append_in_pieces(all, first, count);
            return all;
          }
        }
        return T(first, first + count);
      }
      T all(count);
      if (count != 0) std::memcpy(std::ranges::data(all), from, count * sizeof(element));
      return all;
    } else {
      T all;
      for (std::size_t left = count; left > 0; --left) {
        all.insert(all.end(), wire<element>::get(at));
      }
      return all;
    }
  }

 private:
  using element = typename T::value_type;
  static constexpr bool is_block =
      std::ranges::contiguous_range<const T> && detail::sent_in_blocks<element> &&
      std::default_initializable<element> && std::constructible_from<T, std::size_t> &&
      std::constructible_from<T, const element*, const element*>;
};

}  // namespace creek
