// SPDX-License-Identifier: Apache-2.0
#include "json_value.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace creek {
namespace {

using printer = nlohmann::ordered_json;

/// Maximum nesting depth of parsed text: conversion and destruction recurse once per level.
constexpr int max_depth = 100;

template <class T, class Variant>
auto& get(Variant& value, const char* wanted) {
  auto* const found = std::get_if<T>(&value);
  if (found == nullptr) throw json_error(std::string("JSON: this is not ") + wanted);
  return *found;
}

}  // namespace

/// Converts to and from the library's value.
struct json_text {
  static printer to_printer(const json_value& value) {
    return std::visit(json_text{}, value.value_);
  }
  static json_value from_parsed(const printer& parsed);

  printer operator()(std::monostate) const { return nullptr; }
  template <class T>
  printer operator()(const T& value) const {
    return value;
  }
  printer operator()(const std::vector<json_value>& items) const {
    printer made = printer::array();
    for (const json_value& item : items) made.push_back(to_printer(item));
    return made;
  }
  printer operator()(const std::vector<json_value::member>& members) const {
    printer made = printer::object();
    for (const auto& [name, value] : members) made.emplace(name, to_printer(value));
    return made;
  }
};

json_value json_text::from_parsed(const printer& parsed) {
  json_value made;
  if (parsed.is_object()) {
    made = json_value::object();
    for (const auto& [name, value] : parsed.items()) made[name] = from_parsed(value);
  } else if (parsed.is_array()) {
    made = json_value::array();
    for (const printer& item : parsed) made.push_back(from_parsed(item));
  } else if (parsed.is_string()) {
    made = parsed.get_ref<const std::string&>();
  } else if (parsed.is_boolean()) {
    made = parsed.get<bool>();
  } else if (parsed.is_number_unsigned()) {
    made = parsed.get<std::uint64_t>();
  } else if (parsed.is_number_integer()) {
    made = parsed.get<std::int64_t>();
  } else if (parsed.is_number()) {
    made = parsed.get<double>();
  }
  return made;
}

json_value::json_value(const char* text) : value_(std::string(text)) {}
json_value::json_value(std::string text) noexcept : value_(std::move(text)) {}
json_value::json_value(std::string_view text) : value_(std::string(text)) {}

json_value::json_value(std::initializer_list<json_item> items) {
  const auto is_member = [](const json_item& item) {
    const auto* pair = std::get_if<items_type>(&item.value().value_);
    return pair != nullptr && pair->size() == 2 && pair->front().is_string();
  };
  if (!std::all_of(items.begin(), items.end(), is_member)) {
    *this = array(items);
    return;
  }
  *this = object();
  for (const json_item& item : items) {
    json_value whole = item.take();
    auto& pair = std::get<items_type>(whole.value_);
    (*this)[std::get<std::string>(pair[0].value_)] = std::move(pair[1]);
  }
}

json_value::json_value(const json_value&) = default;
json_value::json_value(json_value&&) noexcept = default;
json_value::~json_value() = default;

json_value& json_value::operator=(json_value other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}

json_value json_value::array(std::initializer_list<json_item> items) {
  json_value made;
  auto& all = made.value_.emplace<items_type>();
  all.reserve(items.size());
  for (const json_item& item : items) all.push_back(item.take());
  return made;
}

json_value json_value::object() {
  json_value made;
  made.value_.emplace<members_type>();
  return made;
}

std::optional<json_value> json_value::parse(std::string_view text) {
  bool too_deep = false;
  const auto check_depth = [&](int depth, printer::parse_event_t, const printer&) {
    too_deep = too_deep || depth > max_depth;
    return !too_deep;
  };
  const printer parsed = printer::parse(text, check_depth, false);
  if (too_deep || parsed.is_discarded()) return std::nullopt;
  return json_text::from_parsed(parsed);
}

json_value& json_value::operator[](std::string_view name) {
  if (is_null()) value_.emplace<members_type>();
  auto& all = get<members_type>(value_, "an object");
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const member& each) { return each.first == name; });
  if (found != all.end()) return found->second;
  return all.emplace_back(std::string(name), json_value()).second;
}

void json_value::push_back(json_value item) {
  if (is_null()) value_.emplace<items_type>();
  get<items_type>(value_, "an array").push_back(std::move(item));
}

void json_value::update(json_value other) {
  for (auto& [name, value] : get<members_type>(other.value_, "an object")) {
    (*this)[name] = std::move(value);
  }
}

std::string json_value::dump(int indent) const {
  return json_text::to_printer(*this).dump(indent, ' ', false, printer::error_handler_t::replace);
}

bool json_value::is_null() const noexcept {
  return std::holds_alternative<std::monostate>(value_);
}
bool json_value::is_array() const noexcept {
  return std::holds_alternative<items_type>(value_);
}
bool json_value::is_object() const noexcept {
  return std::holds_alternative<members_type>(value_);
}
bool json_value::is_string() const noexcept {
  return std::holds_alternative<std::string>(value_);
}
bool json_value::is_integer() const noexcept {
  return std::holds_alternative<std::int64_t>(value_) ||
         std::holds_alternative<std::uint64_t>(value_);
}
bool json_value::is_number() const noexcept {
  return is_integer() || std::holds_alternative<double>(value_);
}

bool json_value::as_bool() const {
  return get<bool>(value_, "true or false");
}
std::int64_t json_value::as_integer() const {
  if (const auto* natural = std::get_if<std::uint64_t>(&value_)) {
    return static_cast<std::int64_t>(*natural);
  }
  return get<std::int64_t>(value_, "a whole number");
}
double json_value::as_number() const {
  if (is_integer()) return static_cast<double>(as_integer());
  return get<double>(value_, "a number");
}
const std::string& json_value::as_string() const {
  return get<std::string>(value_, "a text");
}
const std::vector<json_value>& json_value::items() const {
  return get<items_type>(value_, "an array");
}
const std::vector<json_value::member>& json_value::members() const {
  return get<members_type>(value_, "an object");
}

const json_value* json_value::find(std::string_view name) const noexcept {
  if (!is_object()) return nullptr;
  for (const auto& [known, value] : members()) {
    if (known == name) return &value;
  }
  return nullptr;
}

const json_value& json_value::at(std::string_view name) const {
  const json_value* const found = find(name);
  if (found == nullptr) {
    throw json_error("JSON: there is no member '" + std::string(name) + "'");
  }
  return *found;
}

}  // namespace creek
