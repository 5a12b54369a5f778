// SPDX-License-Identifier: Apache-2.0
#include "parquet_column.hpp"

#include <fmt/format.h>

#include <cmath>
#include <creek/core/io/data_fault.hpp>
#include <optional>

#include "tpch/values/date.hpp"
#include "tpch/values/day_limits.hpp"
#include "tpch/values/decimal.hpp"

namespace creek::tpch {
namespace {

/// Returns the number with `to` instead of `from` digits after the point, if it fits 64 bits.
std::optional<std::int64_t> rescaled(std::int64_t number, int from, int to) noexcept {
  for (; from > to; --from) {
    if (number % 10 != 0) return {};
    number /= 10;
  }
  for (; from < to; ++from) {
    if (__builtin_mul_overflow(number, std::int64_t{10}, &number)) return {};
  }
  return number;
}

/// Returns the hundredths whose nearest double is `number`, if there are any.
std::optional<std::int64_t> hundredths_in(double number) noexcept {
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (!(std::fabs(number) < exact / 100)) return {};
  const auto hundredths = static_cast<std::int64_t>(std::llround(number * 100));
  if (static_cast<double>(hundredths) / 100 != number) return {};
  return hundredths;
}

constexpr const char* no_decimal =
    "is not a decimal number with at most two digits after the point";
constexpr const char* no_integer = "is not a whole number of 64 bits";

}  // namespace

std::string_view other_than(kind to, parquet_values from) noexcept {
  using enum parquet_values;
  switch (to) {
    case kind::integer:
      return from == integers || from == decimals ? "" : "an integer";
    case kind::decimal:
      return from == integers || from == decimals || from == doubles ? "" : "a decimal or a double";
    case kind::date:
      return from == dates || from == texts ? "" : "a date or a text";
    default:
      return from == texts ? "" : "a text";
  }
}

void parquet_column::take_numbers(std::span<const std::int64_t> values) {
  if (to_.holds == kind::date) return take_dates(values);
  const int scale = from_ == parquet_values::decimals ? scale_ : 0;
  const int digits = to_.holds == kind::decimal ? 2 : 0;
  if (scale != digits) return take_rescaled(values, digits);
  values_.numbers.insert(values_.numbers.end(), values.begin(), values.end());
}

void parquet_column::take_rescaled(std::span<const std::int64_t> values, int digits) {
  const int scale = from_ == parquet_values::decimals ? scale_ : 0;
  for (const std::int64_t value : values) {
    const auto number = rescaled(value, scale, digits);
    if (!number) {
      refuse(fmt::format("'{}' {}", to_string(decimal{value, scale}),
                         digits == 2 ? no_decimal : no_integer));
    }
    values_.numbers.push_back(*number);
  }
}

void parquet_column::take_dates(std::span<const std::int64_t> values) {
  for (const std::int64_t day : values) {
    if (day < year_0 || day > year_9999) {
      refuse(fmt::format("day {} after 1970-01-01 is not in the years 0 to 9999", day));
    }
    values_.numbers.push_back(day);
  }
}

void parquet_column::take_doubles(std::span<const double> values) {
  for (const double value : values) {
    const auto number = hundredths_in(value);
    if (!number) refuse(fmt::format("'{}' {}", value, no_decimal));
    values_.numbers.push_back(*number);
  }
}

void parquet_column::take_texts(std::span<const std::string_view> values) {
  for (const std::string_view text : values) take_text(text);
}

void parquet_column::take_text(std::string_view text) {
  const auto complain = [&](const std::string& why) {
    refuse(fmt::format("'{}' {}", shown(text), why));
  };
  if (to_.holds == kind::date) {
    const auto day = parse_date(text);
    if (!day) complain("is not a date YYYY-MM-DD");
    values_.numbers.push_back(*day);
    return;
  }
  if (text.size() < to_.shortest) complain("is empty");
  if (text.size() > to_.longest) {
    complain(fmt::format("has {} bytes, more than {}", text.size(), to_.longest));
  }
  if (text.find('\0') != std::string_view::npos) complain("has a NUL byte");
  if (to_.holds == kind::category) {
    values_.numbers.push_back(number_of_word(text));
  } else {
    values_.text += text;
    values_.numbers.push_back(static_cast<std::int64_t>(text.size()));
  }
}

std::int64_t parquet_column::number_of_word(std::string_view text) {
  const std::size_t known = values_.words.words().size();
  const std::uint32_t number = values_.words.number_of(text);
  if (number == known) values_.words.moved(number, kept_.emplace_front(text));
  return number;
}

void parquet_column::refuse(const std::string& what) const {
  throw parquet_fault(values_.numbers.size(), what);
}

piece_column parquet_column::finish() {
  return values_.pack_up();
}

}  // namespace creek::tpch
