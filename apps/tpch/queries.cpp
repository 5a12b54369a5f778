// SPDX-License-Identifier: Apache-2.0
#include "query.hpp"

#include <array>

namespace creek::tpch {

std::span<const query* const> queries() noexcept {
  static constexpr std::array all{
      &q1,
      &q3,
      &q4,
      &q5,
      &q6,
      &q7,
      &q8,
      &q10,
      &q12,
      &q14,
      &q18,
      &q19,
  };
  return all;
}

}  // namespace creek::tpch
