// SPDX-License-Identifier: Apache-2.0
// Answer of a query: rows of named columns.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "json/json_value.hpp"
#include "tpch/values/decimal.hpp"

namespace creek::tpch {

/// SQL's NULL: the sum, the average or the quotient of no rows.
struct null {
  friend bool operator==(const null&, const null&) = default;
};

/// One value of an answer; a date is text here.
using cell = std::variant<std::int64_t, decimal, std::string, null>;

struct answer {
  std::vector<std::string> columns;
  std::vector<std::vector<cell>> rows;

  friend bool operator==(const answer&, const answer&) = default;
};

[[nodiscard]] std::string to_string(const cell& value);

/// Returns lines of aligned columns under a line of names; numbers are aligned to the right.
[[nodiscard]] std::string to_text(const answer& given);

/// Returns an array of objects, one per row. Decimals are strings, so that no digits are lost.
[[nodiscard]] json_value to_json(const answer& given);

}  // namespace creek::tpch
