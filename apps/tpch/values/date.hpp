// SPDX-License-Identifier: Apache-2.0
// Dates as days since 1970-01-01, Gregorian calendar, years 0 to 9999.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace creek::tpch {

/// Reads YYYY-MM-DD. Returns nullopt if the text is anything else or there is no such day.
[[nodiscard]] std::optional<std::int32_t> parse_date(std::string_view text) noexcept;

[[nodiscard]] std::string date_to_string(std::int64_t days);

/// Returns EXTRACT(YEAR FROM day).
[[nodiscard]] std::int32_t year_of(std::int32_t days) noexcept;

/// Returns the day `months` later, limited to the last day of that month, as in SQL.
[[nodiscard]] std::int32_t add_months(std::int32_t days, int months) noexcept;

}  // namespace creek::tpch
