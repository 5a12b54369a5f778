// SPDX-License-Identifier: Apache-2.0
// JSON values in the lines of a text, one per line, parsed by simdjson.
#pragma once

#include <array>
#include <creek/core/charge.hpp>
#include <creek/core/function_ref.hpp>
#include <creek/mapreduce/input.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace creek::text {

/// Returns whether this library was built with simdjson.
[[nodiscard]] bool has_json_lines() noexcept;

enum class json_type : std::uint8_t { null, boolean, number, string, array, object };

namespace detail {
class json_reader;
}

/// A value within a line, valid during the call that gets the line, as are its strings and members.
/// A value of another type than is asked for, or a missing member, ends the run with an error that
/// names it, the file and the line (malformed_text).
class json_value {
 public:
  [[nodiscard]] json_type type() const noexcept;
  [[nodiscard]] bool is_null() const noexcept { return type() == json_type::null; }

  [[nodiscard]] bool boolean() const;
  /// Returns a number; whole numbers are rounded if 53 bits do not hold them.
  [[nodiscard]] double number() const;
  /// Returns a number that is written without a point and an exponent, and fits.
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::string_view string() const;

  /// Returns a member of an object: the first one of this name. Looks at one member after another.
  [[nodiscard]] json_value operator[](std::string_view name) const;
  /// Same, or nothing if the object has no such member.
  [[nodiscard]] std::optional<json_value> find(std::string_view name) const;
  /// Calls `f` for each element of an array, in order.
  void for_each_element(function_ref<void(const json_value&)> f) const;
  /// Calls `f` for each member of an object with its name, in order.
  void for_each_member(function_ref<void(std::string_view, const json_value&)> f) const;

 private:
  friend class detail::json_reader;

  // An element of simdjson. Keeping its bytes keeps simdjson's header out of this one.
  using handle = std::array<std::uintptr_t, 2>;

  json_value(handle element, const char* line) : element_(element), line_(line) {}
  [[noreturn]] void complain(const char* wanted) const;

  handle element_;
  const char* line_;  // begin of the line in the text
};

struct json_options {
  /// Skips lines that are no JSON, and counts them, instead of ending the run.
  bool skip_damaged = false;
};

namespace detail {

/// Parses the lines of a split.
class json_reader {
 public:
  /// Throws usage_error if this library was built without simdjson.
  json_reader(const mapreduce::text_split& split, json_options chosen);
  json_reader(const json_reader&) = delete;
  json_reader& operator=(const json_reader&) = delete;
  ~json_reader();

  /// Parses the next line that is not blank. Returns nothing at the end; throws malformed_text.
  [[nodiscard]] std::optional<json_value> next();
  [[nodiscard]] std::size_t skipped() const noexcept { return skipped_; }

 private:
  struct parser;

  std::string_view rest_;
  json_options chosen_;
  std::size_t skipped_ = 0;
  std::unique_ptr<parser> parser_;
};

}  // namespace detail

/// Calls `f(const json_value&)` for every line of a split in order; blank lines are skipped, as is
/// a byte order mark. The input must be cut at lines; `{text}` is a split that begins a file.
/// Returns the number of damaged lines that were skipped. A line that is no JSON or no UTF-8, or
/// has a number out of range, throws malformed_text with the reason. Throws usage_error if creek
/// was built without simdjson.
template <class F>
std::size_t for_each_json_line(const mapreduce::text_split& split, F&& f,
                               json_options chosen = {}) {
  charge(work::byte_scanned, static_cast<std::int64_t>(split.text.size()));
  detail::json_reader reader(split, chosen);
  while (const std::optional<json_value> value = reader.next()) f(*value);
  return reader.skipped();
}

}  // namespace creek::text
