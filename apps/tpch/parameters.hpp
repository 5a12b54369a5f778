// SPDX-License-Identifier: Apache-2.0
// The substitution parameters of a query, given as NAME=VALUE.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tpch/columns/schema.hpp"

namespace creek::tpch {

struct parameter {
  std::string_view name;
  kind holds = kind::text;  ///< integer, decimal, date or text
  std::string_view usual;   ///< value in the specification's validation run
  std::int64_t least = 0;   ///< minimum, in the units of parameter_values::number(); not for text
  std::int64_t greatest = 0;
  int scale = 2;  ///< digits after the point of a decimal
};

/// One value per parameter. A number is whole, in units of 10^-scale or in days since 1970-01-01.
class parameter_values {
 public:
  /// Takes NAME=VALUE from `given`, names in any case; others get their usual value. Throws
  /// usage_error for an unknown or repeated name and for a value that is invalid or out of range.
  parameter_values(std::span<const parameter> known, const std::vector<std::string>& given);

  [[nodiscard]] std::int64_t number(std::string_view name) const { return entry_of(name).number; }
  [[nodiscard]] const std::string& text(std::string_view name) const { return entry_of(name).text; }
  /// Returns "DATE=1994-01-01 DISCOUNT=0.06" or the like.
  [[nodiscard]] std::string describe() const;

 private:
  struct entry {
    parameter what;
    std::string text{};
    std::int64_t number = 0;
    bool given = false;
  };
  void set(entry& to, std::string_view text);
  [[nodiscard]] const entry& entry_of(std::string_view name) const;

  std::vector<entry> entries_;
};

}  // namespace creek::tpch
