// SPDX-License-Identifier: Apache-2.0
// The check of an argument of a routine.
#pragma once

#include <string>

#include <creek/core/error.hpp>

namespace creek::linalg::detail {

/// Throws usage_error "ROUTINE: WHAT" unless `good`.
inline void require(bool good, const char* routine, const char* what) {
  if (!good) throw usage_error(std::string(routine) + ": " + what);
}

}  // namespace creek::linalg::detail
