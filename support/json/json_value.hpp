// SPDX-License-Identifier: Apache-2.0
// A JSON value that is cheap to include: the members of an object keep their order. The library
// that prints and parses is behind json_value.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace creek {

class json_item;

/// Thrown if a value is not of the type that was asked for, or has no such member.
struct json_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class json_value {
 public:
  using member = std::pair<std::string, json_value>;

  json_value(std::nullptr_t = nullptr) noexcept {}
  template <std::same_as<bool> Bool>
  json_value(Bool value) noexcept : value_(value) {}
  template <std::signed_integral Integer>
  json_value(Integer value) noexcept : value_(std::int64_t{value}) {}
  template <std::unsigned_integral Integer>
  requires(!std::same_as<Integer, bool>) json_value(Integer value)
  noexcept : value_(std::uint64_t{value}) {}
  json_value(double value) noexcept : value_(value) {}
  json_value(const char* text);
  json_value(std::string text) noexcept;
  json_value(std::string_view text);
  template <std::ranges::input_range Range>
  requires(!std::convertible_to<const Range&, std::string_view>) json_value(const Range& items)
      : json_value(array()) {
    for (const auto& item : items) push_back(json_value(item));
  }
  /// Makes an object if every item is a pair that begins with a text, otherwise an array.
  json_value(std::initializer_list<json_item> items);

  json_value(const json_value&);
  json_value(json_value&&) noexcept;
  json_value& operator=(json_value) noexcept;
  ~json_value();

  [[nodiscard]] static json_value array(std::initializer_list<json_item> items = {});
  [[nodiscard]] static json_value object();
  /// Returns nullopt if `text` is not JSON, or nests values more than 100 deep.
  [[nodiscard]] static std::optional<json_value> parse(std::string_view text);

  /// Returns the member with this name, added as null if missing; null becomes an object.
  json_value& operator[](std::string_view name);
  /// Appends an item; null becomes an array.
  void push_back(json_value item);
  /// Sets all members of another object.
  void update(json_value other);

  /// Returns the JSON text, one line if `indent` is negative, with U+FFFD for bytes not UTF-8.
  [[nodiscard]] std::string dump(int indent = -1) const;

  [[nodiscard]] bool is_null() const noexcept;
  [[nodiscard]] bool is_array() const noexcept;
  [[nodiscard]] bool is_object() const noexcept;
  [[nodiscard]] bool is_string() const noexcept;
  [[nodiscard]] bool is_integer() const noexcept;
  [[nodiscard]] bool is_number() const noexcept;

  /// Returns the whole number, or nullopt if this is another value or does not fit T.
  template <std::integral T>
  [[nodiscard]] std::optional<T> integer_as() const noexcept {
    if (const auto* natural = std::get_if<std::uint64_t>(&value_)) {
      if (std::in_range<T>(*natural)) return static_cast<T>(*natural);
    } else if (const auto* integer = std::get_if<std::int64_t>(&value_)) {
      if (std::in_range<T>(*integer)) return static_cast<T>(*integer);
    }
    return std::nullopt;
  }

  /// These throw json_error if the value is of another type.
  [[nodiscard]] bool as_bool() const;
  [[nodiscard]] std::int64_t as_integer() const;
  [[nodiscard]] double as_number() const;
  [[nodiscard]] const std::string& as_string() const;
  [[nodiscard]] const std::vector<json_value>& items() const;
  [[nodiscard]] const std::vector<member>& members() const;

  /// Returns the member, or nullptr if this is not an object or has no such member.
  [[nodiscard]] const json_value* find(std::string_view name) const noexcept;
  /// Returns the member. Throws json_error if there is none.
  [[nodiscard]] const json_value& at(std::string_view name) const;

 private:
  friend struct json_text;  // prints and parses
  using items_type = std::vector<json_value>;
  using members_type = std::vector<member>;

  std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, items_type,
               members_type>
      value_;
};

/// An item of a braced list: items of an initializer_list are const, this one can be moved from.
class json_item {
 public:
  template <class T>
  requires std::constructible_from<json_value, T> json_item(T&& value)
      : value_(std::forward<T>(value)) {}
  json_item(std::initializer_list<json_item> items) : value_(items) {}

  [[nodiscard]] const json_value& value() const noexcept { return value_; }
  [[nodiscard]] json_value take() const { return std::move(value_); }

 private:
  mutable json_value value_;
};

}  // namespace creek
