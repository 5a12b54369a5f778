// SPDX-License-Identifier: Apache-2.0
// Facts that `creek info` prints about dense linear algebra.
#pragma once

#include <string>

#include "json/json_value.hpp"

namespace creek::tool {

struct linalg_facts {
  json_value as_json;
  std::string products;    ///< instructions and tile sizes of creek's own products
  std::string other_blas;  ///< one library per line, later ones indented
};

/// Collects the facts. Throws usage_error if CREEK_BLAS names a library that cannot be used.
[[nodiscard]] linalg_facts look_at_linalg();

}  // namespace creek::tool
