// SPDX-License-Identifier: Apache-2.0
#include "date.hpp"

#include <fmt/format.h>

#include <chrono>

namespace creek::tpch {
namespace {

using namespace std::chrono;

/// Returns a number of two digits, or a number over 99 if they are no digits.
constexpr unsigned two_digits(const char* text) noexcept {
  const unsigned tens = static_cast<unsigned char>(text[0]) - unsigned{'0'};
  const unsigned ones = static_cast<unsigned char>(text[1]) - unsigned{'0'};
  return tens > 9 || ones > 9 ? 1000 : tens * 10 + ones;
}

constexpr std::int32_t days_of(const year_month_day& day) noexcept {
  return static_cast<std::int32_t>(sys_days(day).time_since_epoch().count());
}

}  // namespace

std::optional<std::int32_t> parse_date(std::string_view text) noexcept {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return {};
  const unsigned century = two_digits(text.data());
  const unsigned years = two_digits(text.data() + 2);
  const unsigned months = two_digits(text.data() + 5);
  const unsigned days = two_digits(text.data() + 8);
  if (century > 99 || years > 99) return {};
  const year_month_day day(year(static_cast<int>(century * 100 + years)), month(months),
                           std::chrono::day(days));
  if (!day.ok()) return {};
  return days_of(day);
}

std::string date_to_string(std::int64_t days) {
  const year_month_day day{sys_days{std::chrono::days{days}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

std::int32_t year_of(std::int32_t days) noexcept {
  return static_cast<int>(year_month_day{sys_days{std::chrono::days{days}}}.year());
}

std::int32_t add_months(std::int32_t days, int count) noexcept {
  const year_month_day from{sys_days{std::chrono::days{days}}};
  year_month_day to = from + months(count);
  if (!to.ok()) to = to.year() / to.month() / last;
  return days_of(to);
}

}  // namespace creek::tpch
