// SPDX-License-Identifier: Apache-2.0
// The two ship modes that Q12 is asked about.
#pragma once

#include <fmt/format.h>

#include <array>
#include <creek/core/error.hpp>
#include <string>
#include <utility>

#include "tpch/parameters.hpp"

namespace creek::tpch {

/// Returns SHIPMODE1 and SHIPMODE2 in the answer's order. Throws usage_error if they are equal.
[[nodiscard]] inline std::array<std::string, 2> ship_modes(const parameter_values& given) {
  std::array<std::string, 2> names{given.text("SHIPMODE1"), given.text("SHIPMODE2")};
  if (names[0] == names[1]) {
    throw usage_error(fmt::format("--param SHIPMODE2={}: must not be SHIPMODE1", names[1]));
  }
  if (names[1] < names[0]) std::swap(names[0], names[1]);
  return names;
}

}  // namespace creek::tpch
