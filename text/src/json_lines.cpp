// SPDX-License-Identifier: Apache-2.0
#include <creek/text/json_lines.hpp>

#include "missing_library.hpp"

#ifdef CREEK_HAS_SIMDJSON

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <creek/core/io/data_fault.hpp>
#include <creek/mapreduce/inputs/malformed_text.hpp>
#include <cstring>
#include <vector>

namespace creek::text {

bool has_json_lines() noexcept {
  return true;
}

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;
using handle = std::array<std::uintptr_t, 2>;

static_assert(sizeof(element) == sizeof(handle) && std::is_trivially_copyable_v<element>);

element from(const handle& bytes) noexcept {
  return std::bit_cast<element>(bytes);
}
handle to_handle(const element& one) noexcept {
  return std::bit_cast<handle>(one);
}

const char* name_of(json_type type) noexcept {
  switch (type) {
    case json_type::null:
      return "null";
    case json_type::boolean:
      return "a boolean";
    case json_type::number:
      return "a number";
    case json_type::string:
      return "a string";
    case json_type::array:
      return "an array";
    case json_type::object:
      return "an object";
  }
  return "";
}

}  // namespace

json_type json_value::type() const noexcept {
  switch (from(element_).type()) {
    case element_type::ARRAY:
      return json_type::array;
    case element_type::OBJECT:
      return json_type::object;
    case element_type::INT64:
    case element_type::UINT64:
    case element_type::DOUBLE:
      return json_type::number;
    case element_type::STRING:
      return json_type::string;
    case element_type::BOOL:
      return json_type::boolean;
    case element_type::NULL_VALUE:
      break;
  }
  return json_type::null;
}

void json_value::complain(const char* wanted) const {
  throw mapreduce::malformed_text(line_, fmt::format("{} instead of {}", name_of(type()), wanted));
}

bool json_value::boolean() const {
  bool value = false;
  if (from(element_).get(value) != simdjson::SUCCESS) complain("a boolean");
  return value;
}

double json_value::number() const {
  double value = 0;
  if (from(element_).get(value) != simdjson::SUCCESS) complain("a number");
  return value;
}

std::int64_t json_value::integer() const {
  std::int64_t value = 0;
  if (from(element_).get(value) != simdjson::SUCCESS) complain("an integer of 64 bits");
  return value;
}

std::string_view json_value::string() const {
  std::string_view value;
  if (from(element_).get(value) != simdjson::SUCCESS) complain("a string");
  return value;
}

std::optional<json_value> json_value::find(std::string_view name) const {
  simdjson::dom::object members;
  if (from(element_).get(members) != simdjson::SUCCESS) complain("an object");
  element member;
  if (members.at_key(name).get(member) != simdjson::SUCCESS) return {};
  return json_value(to_handle(member), line_);
}

json_value json_value::operator[](std::string_view name) const {
  if (const std::optional<json_value> member = find(name)) return *member;
  throw mapreduce::malformed_text(line_, fmt::format("no member '{}'", shown(name)));
}

void json_value::for_each_element(function_ref<void(const json_value&)> f) const {
  simdjson::dom::array elements;
  if (from(element_).get(elements) != simdjson::SUCCESS) complain("an array");
  for (const element one : elements) f(json_value(to_handle(one), line_));
}

void json_value::for_each_member(function_ref<void(std::string_view, const json_value&)> f) const {
  simdjson::dom::object members;
  if (from(element_).get(members) != simdjson::SUCCESS) complain("an object");
  for (const auto& [name, value] : members) f(name, json_value(to_handle(value), line_));
}

namespace detail {

struct json_reader::parser {
  simdjson::dom::parser dom;
  // A copy of the line: simdjson reads behind it, and reads it twice, which a file that is
  // overwritten meanwhile does not survive.
  std::vector<char> padded;

  simdjson::simdjson_result<element> parse(std::string_view line) {
    const std::size_t needed = line.size() + simdjson::SIMDJSON_PADDING;
    if (padded.size() < needed) padded.resize(2 * needed);
    std::memcpy(padded.data(), line.data(), line.size());
    return dom.parse(padded.data(), line.size(), false);
  }
};

json_reader::json_reader(const mapreduce::text_split& split, json_options chosen)
    : rest_(split.text), chosen_(chosen), parser_(std::make_unique<parser>()) {
  if (split.from.offset == 0 && rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
}

json_reader::~json_reader() = default;

std::optional<json_value> json_reader::next() {
  while (!rest_.empty()) {
    const std::string_view line = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(line.size() + 1, rest_.size()));
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    element value;
    const simdjson::error_code fault = parser_->parse(line).get(value);
    if (fault == simdjson::SUCCESS) return json_value(to_handle(value), line.data());
    if (fault == simdjson::MEMALLOC) throw std::bad_alloc();
    if (!chosen_.skip_damaged) {
      throw mapreduce::malformed_text(line.data(), simdjson::error_message(fault));
    }
    ++skipped_;
  }
  return {};
}

}  // namespace detail
}  // namespace creek::text

#else

namespace creek::text {

bool has_json_lines() noexcept {
  return false;
}

namespace detail {

struct json_reader::parser {};

json_reader::json_reader(const mapreduce::text_split&, json_options) {
  fail_without("JSON lines", "simdjson", "libsimdjson-dev");
}
json_reader::~json_reader() = default;
std::optional<json_value> json_reader::next() {
  return {};
}

}  // namespace detail

// Nobody has a value to call these for.
json_type json_value::type() const noexcept {
  return json_type::null;
}
bool json_value::boolean() const {
  return false;
}
double json_value::number() const {
  return 0;
}
std::int64_t json_value::integer() const {
  return 0;
}
std::string_view json_value::string() const {
  return {};
}
json_value json_value::operator[](std::string_view) const {
  return *this;
}
std::optional<json_value> json_value::find(std::string_view) const {
  return {};
}
void json_value::for_each_element(function_ref<void(const json_value&)>) const {}
void json_value::for_each_member(function_ref<void(std::string_view, const json_value&)>) const {}

}  // namespace creek::text

#endif
