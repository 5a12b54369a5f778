// SPDX-License-Identifier: Apache-2.0
// Range of the days in tables, and range of days as parameters of queries.
#pragma once

#include <chrono>
#include <cstdint>

namespace creek::tpch {

namespace detail {
constexpr std::int64_t days_to(std::chrono::year_month_day day) {
  return std::chrono::sys_days(day).time_since_epoch().count();
}
}  // namespace detail

/// The first and the last day that a table may have: the range of YYYY-MM-DD.
inline constexpr std::int64_t year_0 =
    detail::days_to(std::chrono::year(0) / std::chrono::January / 1);
inline constexpr std::int64_t year_9999 =
    detail::days_to(std::chrono::year(9999) / std::chrono::December / 31);

/// The range of parameters: wide enough for any data, and adding a year still makes a date.
inline constexpr std::int64_t first_day =
    detail::days_to(std::chrono::year(1) / std::chrono::January / 1);
inline constexpr std::int64_t last_day =
    detail::days_to(std::chrono::year(9990) / std::chrono::December / 31);

}  // namespace creek::tpch
